package dev.redlock.it.failures;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/**
 * A history as operations of Jepsen, one in a line, for checkers that others wrote: {@code
 * bin/histories} gives it to Porcupine, and Knossos reads it as well. Each name is a register of an
 * owner and a token.
 *
 * <p>{@code acquire} is invoked with the request and returns with its reply. {@code end} is invoked
 * when the lease was last certainly valid; nobody knows when it is over, so it never returns. Each
 * operation has a process of its own, because a worker has several leases at a time.
 */
final class EdnHistory {
  private EdnHistory() {}

  /** Events at one time are in this order, so that a lease may end when the next one begins. */
  private enum Kind {
    END(":invoke, :f :end"),
    ASK(":invoke, :f :acquire"),
    GOT(":ok, :f :acquire");

    private final String words;

    Kind(String words) {
      this.words = words;
    }
  }

  private record Point(long atNanos, Kind kind, int process, String name, ClaimedHold hold) {
    String line(int index) {
      return "{:index %d, :time %d, :process %d, :type %s, :value [\"%s\" {:lease \"%s\", :token %d}]}"
          .formatted(index, atNanos, process, kind.words, name, hold.lease(), hold.token());
    }
  }

  static List<String> lines(List<Event> history) {
    List<Point> points = new ArrayList<>();
    new TreeMap<>(ClaimedHold.byName(ClaimedHold.of(history)))
        .forEach(
            (name, holds) -> {
              for (ClaimedHold hold : holds) {
                int process = points.size();
                points.add(new Point(hold.askedNanos(), Kind.ASK, process, name, hold));
                points.add(new Point(hold.fromNanos(), Kind.GOT, process, name, hold));
                points.add(new Point(hold.ownedUntilNanos(), Kind.END, process + 1, name, hold));
              }
            });
    points.sort(Comparator.comparingLong(Point::atNanos).thenComparing(Point::kind));
    List<String> lines = new ArrayList<>();
    for (Point point : points) {
      lines.add(point.line(lines.size()));
    }
    return lines;
  }
}
