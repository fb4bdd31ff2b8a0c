package dev.redlock.internal.protocol;

/**
 * How long a lease may be trusted: {@code lease time − elapsed − drift}, MIN_VALIDITY of the Redis
 * specification. Anchored before the first byte of the winning round, never at its replies.
 *
 * <p>Elapsed is the larger of what the monotonic and the wall clock say: on many systems the
 * monotonic clock stands still while the machine is suspended, and node clocks do not. A wall clock
 * that is set forward ends leases early, which is safe.
 *
 * @param startNanos monotonic clock before the first send
 * @param startWallMillis wall clock at the same moment
 * @param ttlNanos the lease time that the nodes were given
 * @param driftNanos allowance for the difference of clock rates
 */
public record Validity(long startNanos, long startWallMillis, long ttlNanos, long driftNanos) {

  /** The time left, never negative. */
  public long remaining(long nowNanos, long nowWallMillis) {
    return Math.max(0, ttlNanos - driftNanos - elapsed(nowNanos, nowWallMillis));
  }

  /** The time since before the first send. */
  long elapsed(long nowNanos, long nowWallMillis) {
    long monotonic = nowNanos - startNanos; // overflow-safe: compare differences, not instants
    long wall = (nowWallMillis - startWallMillis) * 1_000_000L;
    // The wall clock counts whole milliseconds: up to one of its difference is rounding.
    return Math.max(monotonic, wall - 1_000_000L);
  }

  /** The monotonic instant at which nothing is left, were the machine never suspended. */
  public long deadlineNanos() {
    return startNanos + ttlNanos - driftNanos;
  }
}
