package dev.redlock.bench.scenario;

import dev.redlock.testkit.RedisNode;
import java.util.Set;

/**
 * The commands that masters have executed, in total or between two times.
 *
 * @param sent requests of clients, without the commands that scripts called
 * @param executed all executed commands, including those that scripts called
 * @param reads how often masters read from clients; several requests in one read arrived in one
 *     write
 */
record Commands(long sent, long executed, long reads) {
  /** Commands that no measured script calls. All others can also come from scripts. */
  private static final Set<String> OF_CLIENTS =
      Set.of(
          "eval",
          "evalsha",
          "eval_ro",
          "evalsha_ro",
          "subscribe",
          "unsubscribe",
          "psubscribe",
          "ssubscribe",
          "sunsubscribe",
          "script|load",
          "script|exists",
          "wait",
          "multi",
          "exec",
          "xread",
          "fcall");

  /** The total of these masters until now. */
  static Commands of(Iterable<RedisNode> masters) {
    long sent = 0;
    long executed = 0;
    long reads = 0;
    for (RedisNode master : masters) {
      sent += sent(master);
      executed += master.commandCount();
      reads += reads(master);
    }
    return new Commands(sent, executed, reads);
  }

  /** The difference to an earlier total. */
  Commands since(Commands before) {
    return new Commands(sent - before.sent, executed - before.executed, reads - before.reads);
  }

  private static long sent(RedisNode node) {
    return String.valueOf(node.command("INFO", "commandstats"))
        .lines()
        .filter(line -> line.startsWith("cmdstat_"))
        .filter(line -> OF_CLIENTS.contains(line.substring(8, line.indexOf(':'))))
        .mapToLong(line -> number(line, "calls="))
        .sum();
  }

  private static long reads(RedisNode node) {
    return String.valueOf(node.command("INFO", "stats"))
        .lines()
        .filter(line -> line.startsWith("total_reads_processed:"))
        .mapToLong(line -> number(line, "total_reads_processed:"))
        .sum();
  }

  private static long number(String line, String after) {
    int from = line.indexOf(after) + after.length();
    int to = from;
    while (to < line.length() && Character.isDigit(line.charAt(to))) {
      to++;
    }
    return Long.parseLong(line.substring(from, to));
  }
}
