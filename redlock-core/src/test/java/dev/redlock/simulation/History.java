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

  /** For the picture: somebody holds until then, a node is in a state until then, a fault. */
  record Span(String lane, Kind kind, long from, long to, long token, String what) {}

  /** What a span tells. */
  enum Kind {
    HOLDS,
    DEAD,
    PAUSED,
    QUARANTINED,
    FAULT
  }

  final List<Row> rows = new ArrayList<>();
  final List<Span> spans = new ArrayList<>();
  private long digest = 0x1234567;

  /** Makes the digest depend on this; two histories with one digest are the same history. */
  void mix(long value) {
    digest = (digest ^ value) * 0x9E3779B97F4A7C15L;
    digest ^= digest >>> 29;
  }

  long digest() {
    return digest;
  }

  void span(String lane, Kind kind, long from, long to, long token, String what) {
    spans.add(new Span(lane, kind, from, to, token, what));
  }

  void row(long nanos, String who, String what) {
    rows.add(new Row(nanos, who, what));
  }

  /** Whether this client has ever sent a request with these words. */
  boolean everSent(String who, String words) {
    return rows.stream()
        .anyMatch(
            r -> r.who().equals(who) && r.what().startsWith("→ ") && r.what().contains(words));
  }

  /** Whether the newest request of this client holds all these words. */
  boolean lastSent(String who, String... words) {
    for (int i = rows.size() - 1; i >= 0; i--) {
      Row row = rows.get(i);
      if (row.who().equals(who) && row.what().startsWith("→ ")) {
        for (String word : words) {
          if (!row.what().contains(word)) {
            return false;
          }
        }
        return true;
      }
    }
    return false;
  }

  /** How many grants of this id and token have come back. */
  int votes(String leaseId, long token) {
    int count = 0;
    for (Row row : rows) {
      count +=
          row.what().startsWith("← ")
                  && row.what().contains(" GRANTED ")
                  && row.what().contains(" acquire " + leaseId + " " + Describe.token(token) + " ")
              ? 1
              : 0;
    }
    return count;
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
