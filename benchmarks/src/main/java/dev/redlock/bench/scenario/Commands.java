package dev.redlock.bench.scenario;

import dev.redlock.testkit.RedisNode;
import java.util.Set;

/**
 * What masters have done so far, or in between.
 *
 * @param sent requests of clients, without what scripts called
 * @param executed all that was carried out, whatever scripts called included
 * @param reads how often masters read from clients: several requests in one read came in one write
 */
record Commands(long sent, long executed, long reads) {
  /** Commands that no script of anybody's calls; all others come from within scripts as well. */
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

  /** So far, on all of these together. */
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

  /** What came after that. */
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
