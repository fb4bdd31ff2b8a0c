package dev.redlock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What happened, for people; kept only when a seed is replayed. And a number that stands for it.
 */
final class History {
  /** One row of the table. */
  record Row(long nanos, String who, String what) {}

  final List<Row> rows = new ArrayList<>();
  private long digest = 0x1234567;

  /** Makes the digest depend on this; two histories with one digest are the same history. */
  void mix(long value) {
    digest = (digest ^ value) * 0x9E3779B97F4A7C15L;
    digest ^= digest >>> 29;
  }

  long digest() {
    return digest;
  }

  void row(long nanos, String who, String what) {
    rows.add(new Row(nanos, who, what));
  }

  void print(StringBuilder out) {
    int width = 4;
    for (Row row : rows) {
      width = Math.max(width, row.who().length());
    }
    for (Row row : rows) {
      out.append(
          String.format(
              Locale.ROOT,
              "%12.3f  %-" + width + "s  %s%n",
              row.nanos() / 1e6,
              row.who(),
              row.what()));
    }
  }
}
