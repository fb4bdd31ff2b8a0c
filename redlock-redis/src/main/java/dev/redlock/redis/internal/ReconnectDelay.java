package dev.redlock.redis.internal;

import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/**
 * The delay before the next connect: a random time between the shortest delay and a bound that
 * doubles. When a node recovers, its clients should connect soon, but not all at once. After a
 * connection that has served requests the client connects at once, because its server works.
 * Guarded by its owner.
 */
public final class ReconnectDelay {
  public static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final DoubleSupplier random;
  private long boundNanos = 2 * SHORTEST_NANOS;

  public ReconnectDelay(DoubleSupplier random) {
    this.random = random;
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
  public long nextNanos(long usableNanos, boolean served) {
    if (served || usableNanos > LONGEST_NANOS) {
      boundNanos = 2 * SHORTEST_NANOS;
    }
    if (served) {
      return Math.max(0, SHORTEST_NANOS - usableNanos);
    }
    long delay = SHORTEST_NANOS + (long) ((boundNanos - SHORTEST_NANOS) * random.getAsDouble());
    boundNanos = Math.min(LONGEST_NANOS, boundNanos * 2);
    return delay;
  }
}
