package dev.redlock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The events of a run, as a table for a reader and as a digest. The simulator keeps the table only
 * when it replays a seed.
 */
final class History {
  /** One row of the table. */
  record Row(long nanos, String actor, String what) {}

  /** One mark of the picture: a lease, the state of a node, or a fault. */
  record Span(String lane, Kind kind, long from, long to, long token, String what) {}

  /** What a span shows. */
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

  /** Mixes a value into the digest. Histories with equal digests are taken to be the same. */
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

  void row(long nanos, String actor, String what) {
    rows.add(new Row(nanos, actor, what));
  }

  /** Whether this client has ever sent a request whose description contains these words. */
  boolean everSent(String actor, String words) {
    return rows.stream()
        .anyMatch(
            r -> r.actor().equals(actor) && r.what().startsWith("→ ") && r.what().contains(words));
  }

  /** Whether the description of this client's newest request contains all these words. */
  boolean lastSent(String actor, String... words) {
    for (int i = rows.size() - 1; i >= 0; i--) {
      Row row = rows.get(i);
      if (row.actor().equals(actor) && row.what().startsWith("→ ")) {
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

  /** How many grants of this id and token the client has received. */
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
      width = Math.max(width, row.actor().length());
    }
    for (Row row : rows) {
      out.append(
          String.format(
              Locale.ROOT,
              "%12.3f  %-" + width + "s  %s%n",
              row.nanos() / 1e6,
              row.actor(),
              row.what()));
    }
  }
}
