package dev.redlock.bench.scenario;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.util.Set;

/** What clients have sent to the masters. */
final class Commands {
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
          "fcall");

  private Commands() {}

  /** Requests so far, on all masters together, without what scripts called. */
  static long sent(RedisNodes nodes) {
    long sum = 0;
    for (RedisNode node : nodes) {
      sum += sent(node);
    }
    return sum;
  }

  /** What the masters have executed, whatever scripts called included. */
  static long executed(RedisNodes nodes) {
    long sum = 0;
    for (RedisNode node : nodes) {
      sum += node.commandCount();
    }
    return sum;
  }

  private static long sent(RedisNode node) {
    return String.valueOf(node.command("INFO", "commandstats"))
        .lines()
        .filter(line -> line.startsWith("cmdstat_"))
        .filter(line -> OF_CLIENTS.contains(line.substring(8, line.indexOf(':'))))
        .mapToLong(line -> number(line, "calls="))
        .sum();
  }

  /** How often the masters read from clients: several requests in one read came in one write. */
  static long reads(RedisNodes nodes) {
    long sum = 0;
    for (RedisNode node : nodes) {
      sum +=
          String.valueOf(node.command("INFO", "stats"))
              .lines()
              .filter(line -> line.startsWith("total_reads_processed:"))
              .mapToLong(line -> number(line, "total_reads_processed:"))
              .sum();
    }
    return sum;
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
