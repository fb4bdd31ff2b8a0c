package dev.redlock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A lock on one or several names. Stateless and shareable: ownership lives in the {@link Lease},
 * never in this object or in a thread.
 *
 * <p>All methods are safe from any thread. Waiting is fair within one process (first come, first
 * served) and costs no thread in the asynchronous methods.
 */
public interface DistributedLock {

  /** What is locked, sorted and without duplicates. */
  List<String> names();

  /** How it is locked. */
  LockOptions options();

  /**
   * Waits for the lock.
   *
   * @param waitTimeout the caller's patience; zero tries once
   * @throws LockTimeoutException if somebody else held it until the timeout
   * @throws QuorumUnavailableException if too few nodes could answer when the timeout came
   * @throws LockQueueFullException if too many already wait for it in this process
   * @throws RedlockInterruptedException if the thread was interrupted; its interrupt flag is set,
   *     and nothing is left behind
   */
  Lease acquire(Duration waitTimeout);

  /**
   * Tries once, and once more after a collision with others who tried at the same time.
   *
   * @return empty if the lock is held, or went to somebody else
   * @throws QuorumUnavailableException if too few nodes answered to tell
   */
  Optional<Lease> tryAcquire();

  /**
   * Waits for the lock without a thread. The future fails as {@link #acquire} throws. Cancelling
   * it, or completing it by any other means ({@code orTimeout}), abandons the attempt and cleans
   * up; a lease that was granted meanwhile is released.
   */
  CompletableFuture<Lease> acquireAsync(Duration waitTimeout);

  /** Like {@link #tryAcquire}, without a thread; and like {@link #acquireAsync} when cancelled. */
  CompletableFuture<Optional<Lease>> tryAcquireAsync();

  /**
   * Runs the body under the lock, then releases.
   *
   * <p>The body's own exception is thrown as it is, never masked by a failing release. If the lease
   * ended before the body did, {@link LeaseLostException} is thrown after it, with the body's
   * exception, if any, as suppressed.
   *
   * @throws LeaseLostException if the lease was lost, expired or hit its cap while the body ran
   * @throws RedlockException as {@link #acquire}
   */
  <T> T withLock(Duration waitTimeout, Function<? super Lease, ? extends T> body);
}
