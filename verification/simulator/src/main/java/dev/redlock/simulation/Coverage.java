package dev.redlock.simulation;

import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import java.io.PrintWriter;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * How often each kind of event, verdict and transition occurred: one row for each kind that
 * occurred.
 */
final class Coverage {
  private record Row(Object kind, Object what) {}

  private record Reply(Object code, NodeError.Kind error) {}

  /** The keys are constants, so that counting creates no strings. */
  private final Map<Row, long[]> counts = new HashMap<>();

  void count(String kind, Object what) {
    add(new Row(kind, what), 1);
  }

  void count(Class<?> request, NodeReply reply) {
    NodeError error = reply.error();
    add(new Row(request, new Reply(reply.code(), error == null ? null : error.kind())), 1);
  }

  private void add(Row row, long times) {
    counts.computeIfAbsent(row, r -> new long[1])[0] += times;
  }

  synchronized void add(Coverage other) {
    other.counts.forEach((row, times) -> add(row, times[0]));
  }

  /** The rows as text, sorted. */
  synchronized Map<String, Long> table() {
    Map<String, Long> table = new TreeMap<>();
    counts.forEach((row, times) -> table.merge(text(row), times[0], Long::sum));
    return table;
  }

  private static String text(Row row) {
    Object what = row.what();
    if (what instanceof Reply reply) {
      return "reply: "
          + ((Class<?>) row.kind()).getSimpleName()
          + " "
          + reply.code()
          + (reply.error() == null ? "" : " " + reply.error());
    }
    return row.kind() + ": " + (what instanceof Class<?> type ? type.getSimpleName() : what);
  }

  void print(PrintWriter out) {
    out.println("| event | times |");
    out.println("|---|---|");
    table().forEach((row, times) -> out.printf(Locale.ROOT, "| %s | %d |%n", row, times));
  }
}
