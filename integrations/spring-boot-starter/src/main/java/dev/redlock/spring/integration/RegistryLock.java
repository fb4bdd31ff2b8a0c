package dev.redlock.spring.integration;

import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.ReentrantDistributedLock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.springframework.integration.support.locks.DistributedLock;

/** One name. The client has the hold counts, so these objects are interchangeable. */
final class RegistryLock implements DistributedLock {
  private final RedlockLockRegistry registry;
  private final Redlock redlock;
  private final String name;
  private final LockOptions options;
  private final ReentrantDistributedLock lock;

  RegistryLock(RedlockLockRegistry registry, Redlock redlock, String name, LockOptions options) {
    this.registry = registry;
    this.redlock = redlock;
    this.name = name;
    this.options = options;
    lock = redlock.reentrantLock(name, options);
  }

  @Override
  public void lock() {
    lock.lock();
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    lock.lockInterruptibly();
  }

  @Override
  public boolean tryLock() {
    return lock.tryLock();
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return lock.tryLock(time, unit);
  }

  /**
   * Waits for the lock; it expires after this time unless it is renewed. To enter the lock again
   * leaves the time to live as it is.
   *
   * @throws IllegalArgumentException if the time is below 10 ms or above {@code maxLeaseTime}
   */
  @Override
  public void lock(Duration ttl) {
    ReentrantDistributedLock lasting = lasting(ttl);
    boolean again = lock.holdCount() > 0;
    lasting.lock();
    remember(again, ttl);
  }

  /**
   * As {@link #lock(Duration)}, waiting for this time at most.
   *
   * @throws QuorumUnavailableException if too few nodes voted when the time was over
   */
  @Override
  public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
    ReentrantDistributedLock lasting = lasting(ttl);
    boolean again = lock.holdCount() > 0;
    if (!lasting.tryLock(nanos(waitTime), TimeUnit.NANOSECONDS)) {
      return false;
    }
    remember(again, ttl);
    return true;
  }

  private void remember(boolean again, Duration ttl) {
    if (!again) {
      lock.lease().ifPresent(lease -> registry.entered(lease, ttl));
    }
  }

  private static long nanos(Duration wait) {
    Duration longest = Duration.ofNanos(Long.MAX_VALUE);
    return wait.compareTo(longest) > 0 ? Long.MAX_VALUE : wait.toNanos();
  }

  private ReentrantDistributedLock lasting(Duration ttl) {
    LockOptions limited =
        options.toBuilder()
            .leaseTime(ttl)
            .minimumHold(Duration.ZERO)
            .noHoldCap() // Renewals are up to the caller.
            .autoExtend(false)
            .build();
    return redlock.reentrantLock(name, limited);
  }

  @Override
  public void unlock() {
    lock.unlock();
  }

  @Override
  public Condition newCondition() {
    return lock.newCondition();
  }

  @Override
  public String toString() {
    return lock.toString();
  }
}
