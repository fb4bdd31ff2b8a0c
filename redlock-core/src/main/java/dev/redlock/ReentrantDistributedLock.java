package dev.redlock;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/**
 * A lock that belongs to a thread, for code written against {@link Lock}. The thread may enter it
 * again without a round trip; the hold count is kept locally, and the last {@link #unlock}
 * releases.
 *
 * <p>It is a lease underneath and can be lost while it is held: look at {@link #lease()} for its
 * validity and fencing token. Entering again or unlocking after loss throws {@link
 * LeaseLostException}. If the owning thread dies holding it, a warning names thread and lock, and
 * the lease is released.
 */
public interface ReentrantDistributedLock extends Lock {

  /**
   * Waits as long as it takes, also while too few nodes answer; an interrupt is kept for later.
   *
   * @throws LockQueueFullException if too many wait already
   * @throws LeaseLostException if this thread holds it, and the lease has ended
   */
  @Override
  void lock();

  /** Like {@link #lock()}, but gives up when interrupted; nothing is left behind then. */
  @Override
  void lockInterruptibly() throws InterruptedException;

  /**
   * One attempt.
   *
   * @throws QuorumUnavailableException if too few nodes answered to tell
   */
  @Override
  boolean tryLock();

  /**
   * Waits at most that long.
   *
   * @throws QuorumUnavailableException if too few nodes could answer when the time was over
   */
  @Override
  boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

  /**
   * Leaves once; the last time releases the lease.
   *
   * @throws IllegalMonitorStateException if this thread does not hold it
   * @throws LeaseLostException if the lease ended before; it counts as left all the same
   */
  @Override
  void unlock();

  /** Whether this thread has entered it, and its lease is valid. */
  boolean isHeldByCurrentThread();

  /** How often this thread has entered it. */
  int holdCount();

  /** The lease of this thread, if it has entered the lock. */
  Optional<Lease> lease();
}
