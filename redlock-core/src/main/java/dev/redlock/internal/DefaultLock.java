package dev.redlock.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.RedlockInterruptedException;
import dev.redlock.internal.protocol.LockConfig;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.Printable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The names, encoded once, and the options. Has no state. */
final class DefaultLock implements DistributedLock {
  /** About 146 years, the longest wait: sums with it do not overflow. */
  private static final long FOREVER_NANOS = Long.MAX_VALUE / 2;

  private final ClientContext context;
  private final Locks locks;
  private final LockKeys keys;
  private final LockOptions options;
  private final LockConfig config;

  DefaultLock(ClientContext context, Locks locks, LockKeys keys, LockOptions options) {
    this.context = context;
    this.locks = locks;
    this.keys = keys;
    this.options = options;
    config = LockConfig.of(options);
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
  public Optional<Lease> tryAcquire() {
    return await(pending(0).emptyWhenHeld());
  }

  private Optional<Lease> await(PendingAcquire pending) {
    locks.submit(pending);
    if (!context.blocking.await(pending.result())) {
      locks.abandon(pending);
      Thread.currentThread().interrupt();
      throw new RedlockInterruptedException(keys.names());
    }
    return Results.of(pending.result());
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration waitTimeout) {
    return submit(pending(nanos(waitTimeout)), Optional::orElseThrow);
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync() {
    return submit(pending(0).emptyWhenHeld(), lease -> lease);
  }

  /**
   * Completes the user's future with the result. If the user completes it by any other means, the
   * attempt is abandoned, and a lease that was granted meanwhile is released.
   */
  private <T> CompletableFuture<T> submit(
      PendingAcquire pending, Function<Optional<Lease>, T> view) {
    CompletableFuture<T> users = new CompletableFuture<>();
    AtomicBoolean given = new AtomicBoolean();
    pending.onResult(
        (lease, failure) -> {
          given.set(true);
          boolean taken =
              lease == null
                  ? users.completeExceptionally(requireNonNull(failure))
                  : users.complete(view.apply(lease));
          if (!taken && lease != null) {
            lease.ifPresent(Lease::releaseAsync);
          }
        });
    users.whenComplete(
        (value, failure) -> {
          if (!given.get()) {
            locks.abandon(pending);
          }
        });
    locks.submit(pending);
    return users;
  }

  private PendingAcquire pending(long waitNanos) {
    boolean singleTry = waitNanos <= 0;
    return new PendingAcquire(
        context,
        keys,
        config,
        context.time.nanos(),
        singleTry ? FOREVER_NANOS : waitNanos,
        singleTry);
  }

  private static long nanos(Duration wait) {
    if (wait.isNegative()) {
      throw new IllegalArgumentException(
          "waitTimeout " + Printable.of(wait) + " must not be negative");
    }
    return wait.compareTo(Duration.ofNanos(FOREVER_NANOS)) > 0 ? FOREVER_NANOS : wait.toNanos();
  }

  @Override
  public <T> T withLock(Duration waitTimeout, Function<? super Lease, ? extends T> body) {
    requireNonNull(body, "body");
    DefaultLease lease = (DefaultLease) acquire(waitTimeout);
    LossInterrupt interrupt = null;
    if (options.interruptOnLoss()) {
      interrupt = new LossInterrupt(Thread.currentThread());
      lease.core().onEnd(interrupt);
    }
    T result;
    try {
      result = body.apply(lease);
    } catch (Throwable e) { // Checked ones too: Kotlin and generics throw them undeclared.
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

  /** Releases the lease; returns its loss if it ended before the body did, or null. */
  private @Nullable LeaseLostException finish(
      DefaultLease lease, @Nullable LossInterrupt interrupt) {
    // Read before the release, from the clock: the timer of the end may not have fired yet.
    boolean lost = !lease.isValid() && !lease.core().releasedByHolder();
    if (interrupt != null) {
      interrupt.disarm();
    }
    lease.close();
    if (!lost) {
      return null;
    }
    return new LeaseLostException(names(), lease.fencingToken(), lease.core().loss());
  }

  @Override
  public String toString() {
    return "DistributedLock" + keys;
  }
}
