package dev.redlock.lettuce.internal;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * The delay before the next connect: a random time between the shortest delay and a bound that
 * doubles. So the clients of a node that recovers do not connect all at once. After a connection
 * that has served requests the client connects at once, because its server works. Guarded by its
 * owner.
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

  /**
   * The delay after the end of a connection, or after a connect that failed.
   *
   * <p>A connection that has served requests begins the delays anew, and so does one that was
   * usable for longer than the longest delay. A server that accepts each connection and drops it
   * without a reply therefore gets growing delays, like a server that accepts none. A server that
   * serves one request per connection gets a connection after each shortest delay, not more.
   *
   * @param usableNanos how long the connection was probed and open; 0 if it never was
   * @param served whether the server replied to a request on it
   */
  long nextNanos(long usableNanos, boolean served) {
    if (served || usableNanos > longestNanos) {
      boundNanos = firstBound();
    }
    if (served) {
      return Math.max(0, shortestNanos - usableNanos);
    }
    long delay = shortestNanos + (long) ((boundNanos - shortestNanos) * random.getAsDouble());
    boundNanos = Math.min(longestNanos, boundNanos * 2);
    return delay;
  }

  private long firstBound() {
    return Math.min(longestNanos, 2 * shortestNanos);
  }
}
