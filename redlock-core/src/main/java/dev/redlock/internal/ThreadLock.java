package dev.redlock.internal;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import dev.redlock.RedlockInterruptedException;
import dev.redlock.ReentrantDistributedLock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/** {@link ReentrantDistributedLock} on one name: {@link DistributedLock} and the thread's count. */
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
    boolean interrupted = false;
    try {
      while (true) {
        try {
          lockInterruptibly();
          return;
        } catch (InterruptedException e) {
          interrupted = true; // Kept for later, as Lock.lock promises.
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    refuseInterrupted();
    if (!holds.enterAgain(name)) {
      holds.enter(name, acquire(FOREVER));
    }
  }

  /** As {@link java.util.concurrent.locks.Lock} has it: also where nothing has to be waited for. */
  private static void refuseInterrupted() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  private Lease acquire(Duration wait) throws InterruptedException {
    try {
      return lock.acquire(wait);
    } catch (RedlockInterruptedException e) {
      Thread.interrupted(); // InterruptedException stands for the flag.
      throw (InterruptedException) new InterruptedException(e.getMessage()).initCause(e);
    }
  }

  @Override
  public boolean tryLock() {
    if (holds.enterAgain(name)) {
      return true;
    }
    Optional<Lease> lease = lock.tryAcquire();
    lease.ifPresent(l -> holds.enter(name, l));
    return lease.isPresent();
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
      return false;
    }
  }

  @Override
  public void unlock() {
    holds.leave(name);
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException(
        "a condition would have to be signalled between processes; use a queue or a stream");
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
    return "ReentrantDistributedLock[" + name + "]";
  }
}
