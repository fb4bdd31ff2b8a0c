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
 * <p>All methods are safe from any thread. Callers of one client get the lock in the order in which
 * they came. The asynchronous methods block no thread.
 */
public interface DistributedLock {

  /** The names, sorted and without duplicates. */
  List<String> names();

  /** The options of its leases. */
  LockOptions options();

  /**
   * Waits for the lock. If this method throws, the caller holds nothing, and the client removes
   * keys that nodes may have stored, in the background.
   *
   * @param waitTimeout how long to wait at most; zero tries once
   * @throws LockTimeoutException if another client held the lock until the timeout ({@link
   *     LockTimeoutException#isHeld}), or the timeout passed before the nodes replied
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
   * Waits for the lock without blocking a thread. The future fails with the exceptions of {@link
   * #acquire}, and completes on the callback executor. If the caller cancels the future, or
   * completes it by other means ({@code orTimeout}), the client ends the attempt, and releases a
   * lease that is granted after that. If {@code cancel} returns false, the future was complete: it
   * has the lease, and the caller has to release it.
   */
  CompletableFuture<Lease> acquireAsync(Duration waitTimeout);

  /** As {@link #tryAcquire}, without blocking a thread. Cancel it as {@link #acquireAsync}. */
  CompletableFuture<Optional<Lease>> tryAcquireAsync();

  /**
   * Acquires the lock, runs the body on this thread, and releases the lock.
   *
   * <p>Throws the exception that the body throws; a failed release never replaces it. If the lease
   * ended before the body, throws {@link LeaseLostException} when the body ends. An exception of
   * the body is then suppressed in it.
   *
   * @throws LeaseLostException if the lease was lost, expired or reached its hold cap before the
   *     body ended
   * @throws RedlockException as {@link #acquire}
   */
  <T> T withLock(Duration waitTimeout, Function<? super Lease, ? extends T> body);
}
