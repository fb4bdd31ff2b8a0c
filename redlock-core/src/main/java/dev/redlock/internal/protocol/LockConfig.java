package dev.redlock.internal.protocol;

import dev.redlock.LockOptions;
import java.time.Duration;

/** {@link LockOptions} in the units of the protocol: converted once, when a lock is made. */
public record LockConfig(
    long ttlMillis,
    long driftNanos,
    long nodeTimeoutNanos,
    boolean autoExtend,
    long capNanos,
    long minimumHoldNanos,
    int queueBound,
    int maxHandOffs,
    boolean fair,
    boolean majorityFirst,
    long pollNanos) {

  /** About 73 years: as good as no cap, and sums do not overflow. */
  private static final Duration NO_CAP = Duration.ofNanos(Long.MAX_VALUE / 4);

  /** Converts validated options; the lease time is cut to whole milliseconds, as nodes keep it. */
  public static LockConfig of(LockOptions options) {
    return new LockConfig(
        options.leaseTime().toMillis(),
        options.drift().toNanos(),
        options.nodeTimeout().toNanos(),
        options.autoExtend(),
        capNanos(options.holdCap()),
        capNanos(options.minimumHold()),
        options.queueBound(),
        options.maxHandOffs(),
        options.fair(),
        options.majorityFirst(),
        options.pollInterval().toNanos());
  }

  private static long capNanos(Duration time) {
    return time.compareTo(NO_CAP) >= 0 ? NO_CAP.toNanos() : time.toNanos();
  }

  long ttlNanos() {
    return ttlMillis * 1_000_000L;
  }

  /** How long an extension waits for replies. Late ones count, unlike votes; see ExtendRound. */
  long patienceNanos() {
    return Math.max(nodeTimeoutNanos, Math.min(1_000_000_000L, ttlNanos() / 10));
  }
}
