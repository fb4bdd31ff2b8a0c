package dev.redlock.internal;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.RedlockInterruptedException;
import dev.redlock.internal.protocol.Terms;
import dev.redlock.spi.LockKeys;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Stateless: names, encoded once, and terms. */
final class DefaultLock implements DistributedLock {
  /** About 146 years: any longer patience is as good as this one, and sums do not overflow. */
  private static final long FOREVER_NANOS = Long.MAX_VALUE / 2;

  private final Client client;
  private final LockKeys keys;
  private final LockOptions options;
  private final Terms terms;

  DefaultLock(Client client, LockKeys keys, LockOptions options) {
    this.client = client;
    this.keys = keys;
    this.options = options;
    terms = Terms.of(options);
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
    client.submit(pending);
    if (!Blocking.await(pending.outcome())) {
      client.abandon(pending);
      Thread.currentThread().interrupt();
      throw new RedlockInterruptedException(keys.names());
    }
    return pending.outcome().result();
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration waitTimeout) {
    PendingAcquire pending = pending(nanos(waitTimeout));
    CompletableFuture<Lease> shown = new CompletableFuture<>();
    relay(pending, shown, Optional::orElseThrow);
    return shown;
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync() {
    PendingAcquire pending = pending(0).emptyWhenHeld();
    CompletableFuture<Optional<Lease>> shown = new CompletableFuture<>();
    relay(pending, shown, lease -> lease);
    return shown;
  }

  /**
   * Completes the user's future with what comes, and lets the attempt go when the user completes it
   * by any other means.
   */
  private <T> void relay(
      PendingAcquire pending, CompletableFuture<T> shown, Function<Optional<Lease>, T> view) {
    CompletableFuture<Optional<Lease>> given = new CompletableFuture<>();
    pending.future(given);
    given.whenComplete(
        (lease, failure) -> {
          boolean taken =
              failure != null
                  ? shown.completeExceptionally(failure)
                  : shown.complete(view.apply(lease));
          if (!taken && lease != null) {
            lease.ifPresent(Lease::releaseAsync);
          }
        });
    shown.whenComplete(
        (value, failure) -> {
          if (!given.isDone()) {
            client.abandon(pending);
          }
        });
    client.submit(pending);
  }

  private PendingAcquire pending(long waitNanos) {
    boolean once = waitNanos <= 0;
    return new PendingAcquire(
        client, keys, terms, client.time().nanos(), once ? FOREVER_NANOS : waitNanos, once);
  }

  private static long nanos(Duration wait) {
    if (wait.isNegative()) {
      throw new IllegalArgumentException("waitTimeout " + wait + " must not be negative");
    }
    return wait.compareTo(Duration.ofNanos(FOREVER_NANOS)) > 0 ? FOREVER_NANOS : wait.toNanos();
  }

  @Override
  public <T> T withLock(Duration waitTimeout, Function<? super Lease, ? extends T> body) {
    DefaultLease lease = (DefaultLease) acquire(waitTimeout);
    LossInterrupt interrupt = null;
    if (options.interruptOnLoss()) {
      interrupt = new LossInterrupt(Thread.currentThread());
      lease.core().onLoss(interrupt);
    }
    T result;
    try {
      result = body.apply(lease);
    } catch (RuntimeException | Error e) {
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

  /** Releases; tells whether the lease had ended before its holder was done. */
  private @Nullable LeaseLostException finish(
      DefaultLease lease, @Nullable LossInterrupt interrupt) {
    // Read before the release, and without a timer: the body may have outlived the lease unnoticed.
    boolean lost = !lease.isValid() && !lease.core().releasedByHolder();
    if (interrupt != null) {
      interrupt.disarm();
    }
    lease.close();
    if (!lost) {
      return null;
    }
    LeaseEnd end = lease.core().end();
    return new LeaseLostException(
        names(), lease.fencingToken(), end == null || end.byHolder() ? LeaseEnd.EXPIRED : end);
  }

  @Override
  public String toString() {
    return "DistributedLock" + names();
  }
}
