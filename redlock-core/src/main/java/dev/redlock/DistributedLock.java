package dev.redlock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A lock on one or several names. It has no state: the {@link Lease} object owns the lock, not this
 * object and not a thread.
 *
 * <p>All methods are safe from any thread. Callers of one client are served in the order in which
 * they came. The asynchronous methods block no thread.
 */
public interface DistributedLock {

  /** The names, sorted and without duplicates. */
  List<String> names();

  /** The options of its leases. */
  LockOptions options();

  /**
   * Waits for the lock. If it throws, this caller holds nothing, and the client removes in the
   * background what nodes may have stored.
   *
   * @param waitTimeout how long to wait at most; zero tries once
   * @throws LockTimeoutException if another client held the lock until the timeout, or the timeout
   *     passed before the nodes replied
   * @throws QuorumUnavailableException if too few nodes voted in the last round that was decided
   * @throws RedlockClosedException if the client is closed before the lock is granted
   * @throws LockQueueFullException if too many callers of this client already wait for the lock
   * @throws RedlockInterruptedException if the thread is interrupted; its interrupt flag is set
   */
  Lease acquire(Duration waitTimeout);

  /**
   * Tries once, and a second time after a collision with clients that tried at the same time.
   *
   * @return empty if the lock is held, or was granted to another client
   * @throws QuorumUnavailableException if too few nodes voted
   * @throws LockTimeoutException if the nodes granted the lock, but this client was paused and
   *     counted their votes only after the node timeout
   * @throws RedlockClosedException if the client is closed
   */
  Optional<Lease> tryAcquire();

  /**
   * Waits for the lock without blocking a thread. The future fails with what {@link #acquire}
   * throws, and completes on the callback executor. To cancel it, or to complete it by any other
   * means ({@code orTimeout}), abandons the attempt; a lease that is granted meanwhile is released.
   * If {@code cancel} returns false, the future was complete: the lease in it is the caller's, who
   * has to release it.
   */
  CompletableFuture<Lease> acquireAsync(Duration waitTimeout);

  /** As {@link #tryAcquire}, without blocking a thread; cancelled as {@link #acquireAsync} is. */
  CompletableFuture<Optional<Lease>> tryAcquireAsync();

  /**
   * Acquires the lock, runs the body on this thread, and releases.
   *
   * <p>Throws what the body throws; a failed release never replaces it. If the lease ended before
   * the body did, throws {@link LeaseLostException} when the body ends, with the exception of the
   * body, if any, as suppressed.
   *
   * @throws LeaseLostException if the lease was lost, expired or reached its hold cap meanwhile
   * @throws RedlockException as {@link #acquire}
   */
  <T> T withLock(Duration waitTimeout, Function<? super Lease, ? extends T> body);
}
