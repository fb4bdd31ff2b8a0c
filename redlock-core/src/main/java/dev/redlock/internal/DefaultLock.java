package dev.redlock.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.RedlockInterruptedException;
import dev.redlock.internal.text.Printable;
import dev.redlock.spi.LockKeys;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The names, encoded once, and the options. Has no state. */
final class DefaultLock implements DistributedLock {
  /** About 146 years, the longest wait: sums with it do not overflow. */
  private static final long FOREVER_NANOS = Long.MAX_VALUE / 2;

  private final ClientContext context;
  private final LockKeys keys;
  private final LockOptions options;

  DefaultLock(ClientContext context, LockKeys keys, LockOptions options) {
    this.context = context;
    this.keys = keys;
    this.options = options;
  }

  @Override
  public List<String> names() {
    return keys.names();
  }

  @Override
  public LockOptions options() {
    return options;
  }

  @Override
  public Lease acquire(Duration waitTimeout) {
    return await(pending(nanos(waitTimeout))).orElseThrow();
  }

  @Override
  public Optional<Lease> tryAcquire(Duration waitTimeout) {
    return await(pending(nanos(waitTimeout)).emptyWhenHeld());
  }

  private Optional<Lease> await(PendingAcquire pending) {
    context.locks.submit(pending);
    if (!context.blocking.await(pending.result)) {
      context.locks.abandon(pending);
      Thread.currentThread().interrupt();
      throw new RedlockInterruptedException(keys.names());
    }
    return Results.of(pending.result);
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration waitTimeout) {
    return submit(
        pending(nanos(waitTimeout)), (lease, users) -> give(lease.orElseThrow(), lease, users));
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration waitTimeout) {
    return submit(
        pending(nanos(waitTimeout)).emptyWhenHeld(), (lease, users) -> give(lease, lease, users));
  }

  private static <T> void give(T result, Optional<Lease> lease, CompletableFuture<T> users) {
    if (!users.complete(result)) {
      DefaultLease.giveBack(lease);
    }
  }

  /**
   * Gives the result to the taker, which completes the user's future. If the user completes it by
   * any other means before, the attempt is abandoned; the taker releases a lease that was granted
   * meanwhile.
   */
  private <T extends @Nullable Object> CompletableFuture<T> submit(
      PendingAcquire pending, BiConsumer<Optional<Lease>, CompletableFuture<T>> taker) {
    CompletableFuture<T> users = new CompletableFuture<>();
    AtomicBoolean given = new AtomicBoolean();
    pending.onResult(
        (lease, failure) -> {
          given.set(true);
          if (lease == null) {
            users.completeExceptionally(requireNonNull(failure));
          } else {
            taker.accept(lease, users);
          }
        });
    users.whenComplete(
        (value, failure) -> {
          if (!given.get()) {
            context.locks.abandon(pending);
          }
        });
    context.locks.submit(pending);
    return users;
  }

  private PendingAcquire pending(long waitNanos) {
    boolean singleTry = waitNanos <= 0;
    return new PendingAcquire(
        context,
        keys,
        options,
        context.time.nanos(),
        singleTry ? FOREVER_NANOS : waitNanos,
        singleTry);
  }

  private static long nanos(Duration wait) {
    if (requireNonNull(wait, "waitTimeout").isNegative()) {
      throw new IllegalArgumentException(
          "waitTimeout " + Printable.of(wait) + " must not be negative");
    }
    return wait.compareTo(Duration.ofNanos(FOREVER_NANOS)) > 0 ? FOREVER_NANOS : wait.toNanos();
  }

  @Override
  public <T extends @Nullable Object, E extends Exception> T withLock(
      Duration waitTimeout, Body<T, E> body) throws E {
    requireNonNull(body, "body");
    return run((DefaultLease) acquire(waitTimeout), body);
  }

  @Override
  public <E extends Exception> boolean tryWithLock(Task<E> task) throws E {
    requireNonNull(task, "task");
    Optional<Lease> lease = tryAcquire();
    if (lease.isEmpty()) {
      return false;
    }
    this.<Boolean, E>run(
        (DefaultLease) lease.get(),
        held -> {
          task.run(held);
          return true; // Any result.
        });
    return true;
  }

  private <T extends @Nullable Object, E extends Exception> T run(
      DefaultLease lease, Body<T, E> body) throws E {
    LossInterrupt interrupt = null;
    if (options.interruptOnLoss()) {
      interrupt = new LossInterrupt(Thread.currentThread());
      lease.core().onEnd(interrupt);
    }
    T result;
    try {
      result = body.run(lease);
    } catch (Throwable e) { // Undeclared checked ones too: Kotlin and generics throw them.
      LeaseLostException loss = finish(lease, interrupt);
      if (loss == null) {
        throw e;
      }
      loss.addSuppressed(e);
      throw loss;
    }
    LeaseLostException loss = finish(lease, interrupt);
    if (loss != null) {
      throw loss;
    }
    return result;
  }

  /**
   * Releases the lease; returns its loss if it ended before the body did, or null. The loss is read
   * after the last interrupt: no thread is interrupted for a loss that nobody is told of.
   */
  private @Nullable LeaseLostException finish(
      DefaultLease lease, @Nullable LossInterrupt interrupt) {
    if (interrupt != null) {
      interrupt.disarm();
    }
    LeaseLostException loss = lease.core().lossDuringWork();
    lease.close();
    return loss;
  }

  @Override
  public <T extends @Nullable Object> CompletableFuture<T> withLockAsync(
      Duration waitTimeout, Function<? super Lease, ? extends CompletionStage<T>> body) {
    requireNonNull(body, "body");
    return submit(
        pending(nanos(waitTimeout)),
        (granted, users) -> {
          DefaultLease lease = (DefaultLease) granted.orElseThrow();
          if (users.isDone()) {
            lease.core().releaseUnused(); // The caller cancelled meanwhile.
          } else {
            whenDone(body, lease, (value, failure) -> finish(lease, value, failure, users));
          }
        });
  }

  /** Runs the body. Whatever it returns or throws, its end is told at least once. */
  private static <T extends @Nullable Object> void whenDone(
      Function<? super Lease, ? extends CompletionStage<T>> body,
      Lease lease,
      BiConsumer<@Nullable T, @Nullable Throwable> end) {
    try {
      requireNonNull(body.apply(lease), "the body returned null").whenComplete(end);
    } catch (Throwable e) {
      end.accept(null, e);
    }
  }

  /** Releases the lease, then completes the future. */
  private <T extends @Nullable Object> void finish(
      DefaultLease lease,
      @Nullable T value,
      @Nullable Throwable failure,
      CompletableFuture<T> users) {
    LeaseLostException loss = lease.core().lossDuringWork();
    CompletableFuture<Void> end = new CompletableFuture<>();
    Results.relay(lease.core().release().result, end, context.callbacks);
    end.whenComplete(
        (released, unconfirmed) -> {
          if (loss != null) {
            if (failure != null) {
              loss.addSuppressed(failure);
            }
            users.completeExceptionally(Results.untraced(loss));
          } else if (failure != null) {
            users.completeExceptionally(failure);
          } else {
            users.complete(value);
          }
        });
  }

  @Override
  public String toString() {
    return "DistributedLock" + keys;
  }
}
