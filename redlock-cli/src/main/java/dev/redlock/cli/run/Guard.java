package dev.redlock.cli.run;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends the child before the validity of the lease ends.
 *
 * <p>The naive way waits for the notice that the lease has ended, and ends the child then. At that
 * moment another client may hold the lock, and the child still runs: for as long as it ignores
 * TERM. So the guard watches the remaining validity, on a thread of its own that waits for nothing
 * else. It sends TERM when grace and margin are left, and KILL when the margin is left. Both
 * decisions are latched: if an extension succeeds after TERM, the child ends all the same, and not
 * later than it was told.
 *
 * <p>If the lease ends earlier, because an operator broke the lock or nodes forgot it, another
 * client may hold the lock already: the guard sends KILL at once.
 */
final class Guard implements Runnable {
  private static final long LONGEST_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long REPEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Lease lease;
  private final Child child;
  private final Duration grace;
  private final Duration margin;
  private final Runnable onTerminate;
  private final Thread thread = new Thread(this, "redlock-guard");
  private final CountDownLatch quiet = new CountDownLatch(1);

  // Written by the main thread, read by the guard.
  private volatile boolean stopped;
  // Written by the guard, read by the main thread.
  private volatile boolean acted;

  Guard(Lease lease, Child child, Duration grace, Duration margin, Runnable onTerminate) {
    this.lease = lease;
    this.child = child;
    this.grace = grace;
    this.margin = margin;
    this.onTerminate = onTerminate;
    thread.setDaemon(true);
  }

  /** Begins to watch. */
  void start() {
    thread.start();
    lease.whenEnded().thenAccept(this::ended);
  }

  private void ended(LeaseEnd end) {
    LockSupport.unpark(thread);
  }

  /** The child has ended. Returns whether the guard ended it; then its descendants ended too. */
  boolean stop() throws InterruptedException {
    stopped = true;
    LockSupport.unpark(thread);
    quiet.await();
    return acted;
  }

  @Override
  public void run() {
    try {
      if (awaitDanger()) {
        acted = true;
        long killAt = System.nanoTime() + lease.remainingValidity().minus(margin).toNanos();
        child.terminate();
        onTerminate.run();
        awaitEnd(killAt);
      }
    } finally {
      quiet.countDown();
    }
  }

  /** Returns true when grace and margin are left, false when the child has ended before. */
  private boolean awaitDanger() {
    while (!stopped) {
      long left = lease.remainingValidity().minus(grace).minus(margin).toNanos();
      if (left <= 0) {
        return child.isAlive();
      }
      // Not longer at once: a lease may end early, and its notice comes by another thread.
      LockSupport.parkNanos(Math.min(left, LONGEST_SLEEP_NANOS));
    }
    return false;
  }

  private void awaitEnd(long killAtNanos) {
    while (child.anyAlive()) {
      long left = killAtNanos - System.nanoTime();
      if (left <= 0 || !lease.isValid()) {
        child.kill();
        LockSupport.parkNanos(REPEAT_NANOS); // Again: the child may have started a process.
      } else {
        LockSupport.parkNanos(Math.min(left, REPEAT_NANOS));
      }
    }
  }
}
