package dev.redlock;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

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
   * Tries once, and a second time if the refusal does not show that another client has the lock:
   * after a collision with clients that tried at the same time, or if a node that had granted it
   * lost its connection, or the set of nodes changed meanwhile.
   *
   * @return empty if the lock is held, or was granted to another client
   * @throws QuorumUnavailableException if too few nodes voted
   * @throws LockTimeoutException if the nodes granted the lock, but this client was paused and
   *     counted their votes only after the node timeout
   * @throws RedlockClosedException if the client is closed
   */
  default Optional<Lease> tryAcquire() {
    return tryAcquire(Duration.ZERO);
  }

  /**
   * Waits for the lock as {@link #acquire}, for callers that expect it to be held: a lock that
   * another client held until the timeout is a result and not an exception.
   *
   * @param waitTimeout how long to wait at most; zero is {@link #tryAcquire()}
   * @return empty if the lock was held until the timeout
   * @throws LockTimeoutException if the timeout passed before the nodes replied
   * @throws RedlockException otherwise as {@link #acquire}
   */
  Optional<Lease> tryAcquire(Duration waitTimeout);

  /**
   * Waits for the lock without blocking a thread. The future fails with the exceptions of {@link
   * #acquire}, and completes on the callback executor. If the caller cancels the future, or
   * completes it by other means ({@code orTimeout}), the client ends the attempt, and releases a
   * lease that is granted after that. If {@code cancel} returns false, the future was complete: it
   * has the lease, and the caller has to release it.
   */
  CompletableFuture<Lease> acquireAsync(Duration waitTimeout);

  /** As {@link #tryAcquire()}, without blocking a thread. Cancel it as {@link #acquireAsync}. */
  default CompletableFuture<Optional<Lease>> tryAcquireAsync() {
    return tryAcquireAsync(Duration.ZERO);
  }

  /**
   * As {@link #tryAcquire(Duration)}, without blocking a thread. Cancel it as {@link
   * #acquireAsync}.
   */
  CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration waitTimeout);

  /**
   * Acquires the lock, runs the body on this thread, and releases the lock.
   *
   * <p>Throws the exception that the body throws; a failed release never replaces it. If the lease
   * ended before the body, throws {@link LeaseLostException} when the body ends. An exception of
   * the body is then suppressed in it.
   *
   * @return the result of the body
   * @throws E if the body throws it
   * @throws LeaseLostException if the lease was lost, expired or reached its hold cap before the
   *     body ended
   * @throws RedlockException as {@link #acquire}
   */
  <T extends @Nullable Object, E extends Exception> T withLock(
      Duration waitTimeout, Body<T, E> body) throws E;

  /** As {@link #withLock}, for a body without a result. */
  default <E extends Exception> void runWithLock(Duration waitTimeout, Task<E> task) throws E {
    requireNonNull(task, "task");
    this.<Boolean, E>withLock(
        waitTimeout,
        lease -> {
          task.run(lease);
          return true; // Any result.
        });
  }

  /**
   * Tries to acquire the lock as {@link #tryAcquire()}. If the lock is granted, runs the task on
   * this thread, and releases the lock.
   *
   * @return whether the task ran; false if the lock is held
   * @throws E if the task throws it
   * @throws LeaseLostException if the lease was lost, expired or reached its hold cap before the
   *     task ended
   * @throws RedlockException as {@link #tryAcquire()}
   */
  <E extends Exception> boolean tryWithLock(Task<E> task) throws E;

  /**
   * As {@link #withLock}, without blocking a thread. The client calls the body on the callback
   * executor, and releases the lock when the stage of the body completes. The future then completes
   * as the stage did, on the callback executor. If the lease ended before the stage completed, the
   * future fails with {@link LeaseLostException}. Does not interrupt a thread, whatever {@link
   * LockOptions#interruptOnLoss} says.
   *
   * <p>If the caller cancels the future before the lock is granted, the client ends the attempt,
   * and does not call the body. After that, a cancellation has no effect on the body or the lock.
   */
  <T extends @Nullable Object> CompletableFuture<T> withLockAsync(
      Duration waitTimeout, Function<? super Lease, ? extends CompletionStage<T>> body);

  /**
   * What {@link #withLock} runs.
   *
   * @param <T> its result
   * @param <E> the checked exception that it throws; the compiler infers {@code RuntimeException}
   *     for a lambda that throws none
   */
  @FunctionalInterface
  interface Body<T extends @Nullable Object, E extends Exception> {
    /** Runs while the lease is held. */
    T run(Lease lease) throws E;
  }

  /**
   * What {@link #runWithLock} and {@link #tryWithLock} run.
   *
   * @param <E> the checked exception that it throws, as in {@link Body}
   */
  @FunctionalInterface
  interface Task<E extends Exception> {
    /** Runs while the lease is held. */
    void run(Lease lease) throws E;
  }
}
