package dev.redlock.shedlock;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One lease, and when this adapter releases it: at {@code lockAtMostFor} while the task runs, and
 * not before {@code lockAtLeastFor} after it. Both begin at the call that locked or extended.
 */
final class Hold {
  private static final Logger log = LoggerFactory.getLogger(RedlockLockProvider.class);

  /** About 146 years; sums with it do not overflow. */
  private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE / 2);

  private final Lease lease;
  private final ScheduledExecutorService timer;

  // Guarded by this.
  private long mostUntilNanos;
  private long leastUntilNanos;
  private @Nullable Future<?> release;
  private boolean unlocked;

  Hold(Lease lease, ScheduledExecutorService timer, long nowNanos, LockConfiguration limits) {
    this.lease = lease;
    this.timer = timer;
    lease.whenEnded().thenAccept(this::ended);
    synchronized (this) {
      limit(nowNanos, limits);
    }
  }

  private void limit(long nowNanos, LockConfiguration limits) {
    mostUntilNanos = nowNanos + nanos(limits.getLockAtMostFor());
    leastUntilNanos = nowNanos + nanos(limits.getLockAtLeastFor());
    releaseAt(mostUntilNanos);
  }

  private static long nanos(Duration duration) {
    return (duration.compareTo(LONGEST) > 0 ? LONGEST : duration).toNanos();
  }

  /** Sets new limits; false if the lock is no longer held, or its time has passed. */
  synchronized boolean extend(LockConfiguration limits) {
    long now = System.nanoTime();
    if (unlocked || now - mostUntilNanos >= 0 || !lease.isValid()) {
      return false;
    }
    limit(now, limits);
    return true;
  }

  /**
   * Waits for the nodes if the lock becomes free; returns at once if it stays taken for a while.
   */
  void unlock() {
    synchronized (this) {
      unlocked = true;
      if (leastUntilNanos - System.nanoTime() > 0) {
        releaseAt(leastUntilNanos);
        return;
      }
      cancelRelease();
    }
    lease.close();
  }

  private void releaseAt(long atNanos) {
    cancelRelease();
    try {
      release =
          timer.schedule(() -> expire(atNanos), atNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      providerClosed();
    }
  }

  /**
   * No limit is kept any more. A task that runs keeps its lock until it unlocks it, or the client
   * closes; otherwise the nodes keep what they can of {@code lockAtLeastFor}.
   */
  synchronized void providerClosed() {
    if (unlocked) {
      lease.releaseAsync();
    }
  }

  private void cancelRelease() {
    if (release != null) {
      release.cancel(false);
    }
  }

  /** The comparison is for an extension that came when the timer had already fired. */
  private void expire(long atNanos) {
    synchronized (this) {
      if (atNanos != (unlocked ? leastUntilNanos : mostUntilNanos)) {
        return;
      }
    }
    lease.releaseAsync();
  }

  private void ended(LeaseEnd end) {
    synchronized (this) {
      cancelRelease();
      if (unlocked || end.byHolder()) {
        return;
      }
    }
    log.warn(
        "the lease on {} with token {} ended while its task runs ({}): another process may start"
            + " the task",
        lease.names(),
        lease.fencingToken(),
        end);
  }
}
