package dev.redlock.simulation;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import java.util.HashMap;
import java.util.Map;

/**
 * Fair mode: who stands in line at each node, as it follows from the questions and answers; nobody
 * may be let in while somebody stands there who came earlier.
 */
final class Lines {
  /** A node keeps the line to the millisecond. */
  private static final long ROUNDING_MICROS = 2_000;

  /** When it came: not always known, for its place may just have been forgotten in between. */
  private record Place(long earliestMicros, long latestMicros, long seenMicros) {}

  private final Map<String, Map<String, Place>> lines = new HashMap<>();

  void executed(SimNode node, LockRequest request, NodeReply reply, long clock) {
    // Places are kept in the node's time: once that was set, nobody can tell who came first.
    // (False alarms at seeds 317409 and 377350.)
    if (!reply.code().definite() || node.wasSet()) {
      return;
    }
    String key = request.keys().lockKey(0);
    if (request instanceof LockRequest.Release r && r.leaveLine() != null) {
      at(node, key).remove(r.leaveLine());
    } else if (request instanceof LockRequest.Acquire r && r.line() != null) {
      asked(node, key, r.line(), reply.code() == ReplyCode.GRANTED, clock);
    }
  }

  private void asked(SimNode node, String key, LockRequest.Line line, boolean granted, long clock) {
    Map<String, Place> places = at(node, key);
    Place own = places.get(line.process());
    long arrival = line.arrivalMicros() == 0 ? clock : line.arrivalMicros();
    long earliest = arrival;
    long latest = arrival;
    if (own != null && Math.abs(clock - own.seenMicros) <= lives(line) + ROUNDING_MICROS) {
      earliest = Math.min(arrival, own.earliestMicros);
    }
    if (own != null && isThere(own, line, clock)) {
      latest = Math.min(arrival, own.latestMicros);
    }
    if (!granted) {
      if (line.stand()) {
        places.put(line.process(), new Place(earliest, latest, clock));
      }
      return;
    }
    places.remove(line.process());
    for (Map.Entry<String, Place> e : places.entrySet()) {
      if (e.getValue().latestMicros < earliest && isThere(e.getValue(), line, clock)) {
        throw new Violation(
            "line",
            line.process()
                + " is let in before "
                + e.getKey()
                + " at "
                + node.name
                + " for "
                + key);
      }
    }
  }

  private static boolean isThere(Place place, LockRequest.Line line, long clock) {
    long ago = clock - place.seenMicros;
    return ago >= 0 && ago <= lives(line) - ROUNDING_MICROS;
  }

  private static long lives(LockRequest.Line line) {
    return line.timeoutMillis() * 1000;
  }

  void lost(SimNode node) {
    lines.keySet().removeIf(place -> place.startsWith(node.name + " "));
  }

  private Map<String, Place> at(SimNode node, String key) {
    return lines.computeIfAbsent(node.name + " " + key, place -> new HashMap<>());
  }
}
