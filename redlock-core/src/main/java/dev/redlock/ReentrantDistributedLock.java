package dev.redlock;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/**
 * A lock that a thread owns, for code written against {@link Lock}. The thread may enter it again
 * without a round trip: the client counts, and the last {@link #unlock} releases.
 *
 * <p>The lock is a {@link Lease} and can be lost while it is held; {@link #lease()} has its
 * validity and fencing token. After a loss, entering again and unlocking throw {@link
 * LeaseLostException}. If the owning thread dies, the client logs a warning and releases the lease.
 *
 * <p>{@code newCondition} throws {@link UnsupportedOperationException}.
 */
public interface ReentrantDistributedLock extends Lock {

  /**
   * Waits without a time limit, also while too few nodes vote. If the thread is interrupted,
   * continues to wait, and sets the interrupt flag when it returns.
   *
   * @throws LockQueueFullException if too many callers of this client already wait
   * @throws LeaseLostException if this thread has entered the lock, and the lease has ended
   */
  @Override
  void lock();

  /** As {@link #lock()}, but gives up when the thread is interrupted. */
  @Override
  void lockInterruptibly() throws InterruptedException;

  /**
   * Tries once. An interrupt does not end the attempt; the interrupt flag is set when this method
   * returns.
   *
   * @throws QuorumUnavailableException if too few nodes voted
   */
  @Override
  boolean tryLock();

  /**
   * Waits for this time at most. Returns false only if others held the lock, on one node at least.
   *
   * @throws LockTimeoutException if the time was over, and no node had said that others hold the
   *     lock
   * @throws QuorumUnavailableException if too few nodes voted when the time was over
   */
  @Override
  boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

  /**
   * Leaves the lock once; the last call releases the lease.
   *
   * @throws IllegalMonitorStateException if this thread has not entered the lock
   * @throws LeaseLostException if the lease ended before; the thread has left the lock nevertheless
   */
  @Override
  void unlock();

  /** Whether this thread has entered the lock, and its lease is valid. */
  boolean isHeldByCurrentThread();

  /** How often this thread has entered the lock. */
  int holdCount();

  /** The lease of this thread, if it has entered the lock. */
  Optional<Lease> lease();
}
