package dev.redlock.it.failures;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A history as traces of the model {@code Register.tla} in {@code redlock-simulator}, one for each
 * name. A lease has three kinds of events: it was requested, its request returned, and it was
 * certainly valid. No client can know exactly when the lease was granted and when it ended. TLC
 * searches for times that fit.
 */
final class RegisterTrace {
  private RegisterTrace() {}

  /** Events at one time are in this order, so that a lease may end when the next one begins. */
  private enum Kind {
    VALID("valid"),
    ASK("ask"),
    GOT("got");

    private final String word;

    Kind(String word) {
      this.word = word;
    }
  }

  private record Point(long atNanos, Kind kind, int number, ClaimedHold hold) {
    String line() {
      String line = atNanos + " " + kind.word + " l=" + number + " lease=" + hold.lease();
      return kind == Kind.GOT ? line + " t=" + hold.token() : line;
    }
  }

  static List<String> lines(List<Event> history) {
    Map<String, List<Long>> valid = extensions(history);
    List<String> lines = new ArrayList<>();
    new TreeMap<>(ClaimedHold.byName(ClaimedHold.of(history)))
        .forEach(
            (name, holds) -> {
              lines.add("trace Register " + name);
              points(holds, valid).forEach(point -> lines.add(point.line()));
            });
    return lines;
  }

  /** When each lease was valid, as its extensions show. */
  private static Map<String, List<Long>> extensions(List<Event> history) {
    Map<String, List<Long>> valid = new TreeMap<>();
    for (Event event : history) {
      if (event.is("extended")) {
        // For an automatic extension only the time of its success is known.
        long asked = event.number("asked");
        valid
            .computeIfAbsent(event.text("lease"), lease -> new ArrayList<>())
            .add(asked > 0 ? asked : event.atNanos());
      }
    }
    return valid;
  }

  private static List<Point> points(List<ClaimedHold> holds, Map<String, List<Long>> extensions) {
    List<Point> points = new ArrayList<>();
    int number = 0;
    for (ClaimedHold hold : holds) {
      number++;
      points.add(new Point(hold.askedNanos(), Kind.ASK, number, hold));
      points.add(new Point(hold.fromNanos(), Kind.GOT, number, hold));
      List<Long> valid = new ArrayList<>(extensions.getOrDefault(hold.lease(), List.of()));
      if (!hold.claimsNothing()) {
        valid.add(hold.toNanos());
      }
      for (long at : valid) {
        if (at > hold.fromNanos()) {
          points.add(new Point(at, Kind.VALID, number, hold));
        }
      }
    }
    points.sort(Comparator.comparingLong(Point::atNanos).thenComparing(Point::kind));
    return points;
  }
}
