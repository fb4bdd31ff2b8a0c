package dev.redlock.lettuce.internal;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * How long to wait before the next try to connect: full jitter between the shortest pause and a
 * bound that doubles, so that the clients of a node that comes back do not come all at once.
 */
final class Backoff {
  private final long shortestNanos;
  private final long longestNanos;
  private final DoubleSupplier random;
  private long boundNanos;

  Backoff(Duration shortest, Duration longest, DoubleSupplier random) {
    this.shortestNanos = shortest.toNanos();
    this.longestNanos = longest.toNanos();
    this.random = random;
    this.boundNanos = firstBound();
  }

  long nextNanos() {
    long delay = shortestNanos + (long) ((boundNanos - shortestNanos) * random.getAsDouble());
    boundNanos = Math.min(longestNanos, boundNanos * 2);
    return delay;
  }

  /** A connection was usable: begin anew. */
  void reset() {
    boundNanos = firstBound();
  }

  private long firstBound() {
    return Math.min(longestNanos, 2 * shortestNanos);
  }
}
