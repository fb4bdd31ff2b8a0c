package dev.redlock.internal.protocol;

import dev.redlock.LockOptions;

/** {@link LockOptions} in the units of the protocol: converted once, when a lock is made. */
public record Terms(
    long ttlMillis,
    long driftNanos,
    long nodeTimeoutNanos,
    boolean autoExtend,
    long capNanos,
    long minimumHoldNanos,
    int queueBound,
    int maxHandOffs,
    boolean fair,
    long lineTimeoutMillis,
    long pollNanos) {

  /** Converts validated options; the lease time is cut to whole milliseconds, as nodes keep it. */
  public static Terms of(LockOptions options) {
    return new Terms(
        options.leaseTime().toMillis(),
        options.drift().toNanos(),
        options.nodeTimeout().toNanos(),
        options.autoExtend(),
        options.holdCap().toNanos(),
        options.minimumHold().toNanos(),
        options.queueBound(),
        options.maxHandOffs(),
        options.fair(),
        options.lineTimeout().toMillis(),
        options.pollInterval().toNanos());
  }

  long ttlNanos() {
    return ttlMillis * 1_000_000L;
  }
}
