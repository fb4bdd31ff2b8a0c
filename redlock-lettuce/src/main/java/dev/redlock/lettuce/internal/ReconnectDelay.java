package dev.redlock.lettuce.internal;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * The delay before the next connect: a random time between the shortest delay and a bound that
 * doubles. So the clients of a node that recovers do not connect all at once. Guarded by its owner.
 */
final class ReconnectDelay {
  private final long shortestNanos;
  private final long longestNanos;
  private final DoubleSupplier random;
  private long boundNanos;

  ReconnectDelay(Duration shortest, Duration longest, DoubleSupplier random) {
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

  /**
   * Resets the bound if the last connection was usable for longer than the longest delay. A server
   * that accepts each connection and soon drops it therefore gets growing delays, like a server
   * that accepts none.
   */
  void usableFor(long nanos) {
    if (nanos > longestNanos) {
      boundNanos = firstBound();
    }
  }

  private long firstBound() {
    return Math.min(longestNanos, 2 * shortestNanos);
  }
}
