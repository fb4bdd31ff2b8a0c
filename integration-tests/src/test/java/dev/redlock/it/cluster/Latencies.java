package dev.redlock.it.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** How long calls took; the slow ones one by one. Safe from any thread. */
final class Latencies {
  private static final long SLOW_MILLIS = 250;
  private static final int NAMED = 20;

  private record Slow(long atMillis, long millis) {}

  private static final long ORIGIN = System.nanoTime();
  private final List<Slow> slow = new ArrayList<>();
  private long count;
  private long longestNanos;

  /** A call that began then has ended now. */
  synchronized void add(long beginNanos) {
    long nanos = System.nanoTime() - beginNanos;
    count++;
    longestNanos = Math.max(longestNanos, nanos);
    if (nanos >= SLOW_MILLIS * 1_000_000) {
      slow.add(new Slow((beginNanos - ORIGIN) / 1_000_000, nanos / 1_000_000));
    }
  }

  synchronized long longestMillis() {
    return longestNanos / 1_000_000;
  }

  @Override
  public synchronized String toString() {
    String named =
        slow.stream()
            .sorted((a, b) -> Long.signum(b.millis - a.millis))
            .limit(NAMED)
            .map(one -> one.millis + " at " + one.atMillis)
            .collect(Collectors.joining(", "));
    return count
        + " calls, longest "
        + longestMillis()
        + " ms, "
        + slow.size()
        + " of "
        + SLOW_MILLIS
        + " ms or more"
        + (slow.isEmpty() ? "" : " (ms, begin: " + named + ")");
  }
}
