package dev.redlock.internal;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import dev.redlock.RedlockInterruptedException;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.internal.text.Printable;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/** A {@link DistributedLock} on one name, with the hold counts of the threads. */
final class ThreadLock implements ReentrantDistributedLock {
  private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

  private final ReentrantHolds holds;
  private final DistributedLock lock;
  private final String name;

  ThreadLock(ReentrantHolds holds, DistributedLock lock) {
    this.holds = holds;
    this.lock = lock;
    name = lock.names().get(0);
  }

  @Override
  public void lock() {
    if (!holds.enterAgain(name)) {
      holds.enter(name, uninterruptibly(() -> acquire(FOREVER)));
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    refuseInterrupted();
    if (!holds.enterAgain(name)) {
      holds.enter(name, acquire(FOREVER));
    }
  }

  /** As {@link java.util.concurrent.locks.Lock} requires, even if the thread need not wait. */
  private static void refuseInterrupted() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  private Lease acquire(Duration wait) throws InterruptedException {
    try {
      return lock.acquire(wait);
    } catch (RedlockInterruptedException e) {
      Thread.interrupted(); // The flag is cleared with InterruptedException.
      throw (InterruptedException) new InterruptedException(e.getMessage()).initCause(e);
    }
  }

  @Override
  public boolean tryLock() {
    if (holds.enterAgain(name)) {
      return true;
    }
    Optional<Lease> lease = uninterruptibly(lock::tryAcquire);
    lease.ifPresent(l -> holds.enter(name, l));
    return lease.isPresent();
  }

  private interface Attempt<T> {
    T make() throws InterruptedException;
  }

  /** Keeps an interrupt for later: Lock.lock() and Lock.tryLock() have no InterruptedException. */
  private static <T> T uninterruptibly(Attempt<T> attempt) {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          return attempt.make();
        } catch (InterruptedException | RedlockInterruptedException e) {
          interrupted = true;
          Thread.interrupted(); // Else the next attempt would end at once.
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    refuseInterrupted();
    if (holds.enterAgain(name)) {
      return true;
    }
    try {
      holds.enter(name, acquire(Duration.ofNanos(Math.max(0, unit.toNanos(time)))));
      return true;
    } catch (LockTimeoutException e) {
      AcquireReport report = e.report(); // Without votes others of this client came first.
      if (e.isHeld() || report.votes().isEmpty() || report.count(Vote.HELD) > 0) {
        return false;
      }
      throw e;
    }
  }

  @Override
  public void unlock() {
    holds.leave(name);
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException(
        "conditions between processes are not supported; use a queue or a stream");
  }

  @Override
  public boolean isHeldByCurrentThread() {
    ReentrantHolds.Hold hold = holds.mine(name);
    return hold != null && hold.lease.isValid();
  }

  @Override
  public int holdCount() {
    ReentrantHolds.Hold hold = holds.mine(name);
    return hold == null ? 0 : hold.count;
  }

  @Override
  public Optional<Lease> lease() {
    return Optional.ofNullable(holds.mine(name)).map(hold -> hold.lease);
  }

  @Override
  public String toString() {
    return "ReentrantDistributedLock[" + Printable.of(name) + "]";
  }
}
