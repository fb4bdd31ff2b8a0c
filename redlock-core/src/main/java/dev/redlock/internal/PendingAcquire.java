package dev.redlock.internal;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.Verdict;
import dev.redlock.Lease;
import dev.redlock.LockQueueFullException;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.RedlockClosedException;
import dev.redlock.internal.protocol.Terms;
import dev.redlock.internal.protocol.Waiter;
import dev.redlock.spi.LockKeys;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A caller who waits for a lock, as a parked thread or as a future. A grant that finds nobody any
 * more releases its lease: nothing is lost between the two.
 */
final class PendingAcquire extends Waiter {
  private final Client client;
  private final Outcome outcome = new Outcome();

  /** Taken where the caller asks: the grant comes on another thread, which knows nothing of it. */
  private final @Nullable Throwable asked;

  /** Set before the waiter is submitted. Null for a thread that waits. */
  private @Nullable CompletableFuture<Optional<Lease>> future;

  /** Empty: refused, in a way that a single try reports as empty. */
  private static final class Outcome extends Completion<Optional<Lease>> {}

  PendingAcquire(
      Client client, LockKeys keys, Terms terms, long nowNanos, long waitNanos, boolean once) {
    super(keys, terms, nowNanos, nowNanos + waitNanos, once);
    this.client = client;
    asked = client.traceOfCaller();
  }

  Completion<Optional<Lease>> outcome() {
    return outcome;
  }

  void future(CompletableFuture<Optional<Lease>> f) {
    future = f;
  }

  void granted(LeaseCore core) {
    DefaultLease lease = new DefaultLease(core);
    client.watch(lease, asked);
    if (!outcome.succeed(Optional.of(lease))) {
      core.release(); // Cancelled, interrupted or completed by somebody else meanwhile.
      return;
    }
    client.events().acquired(this, lease);
    complete();
  }

  void refused(AcquireReport report) {
    client.events().refused(report);
    RuntimeException failure = exception(report);
    if (failure == null ? outcome.succeed(Optional.empty()) : outcome.fail(failure)) {
      complete();
    }
  }

  void turnedAway(int length) {
    client.events().turnedAway(keys(), length);
    if (outcome.fail(new LockQueueFullException(keys().names(), length))) {
      complete();
    }
  }

  void refusedBecauseClosed() {
    if (outcome.fail(new RedlockClosedException())) {
      complete();
    }
  }

  private @Nullable RuntimeException exception(AcquireReport report) {
    Verdict verdict = report.verdict();
    return switch (verdict) {
      case UNAVAILABLE, TOKENS_REFUSED, TOO_SLOW ->
          new QuorumUnavailableException("lock not acquired", report);
      case HELD, HELD_LOCALLY, COLLIDED, ABANDONED ->
          tryOnly() && verdict != Verdict.ABANDONED ? null : new LockTimeoutException(report);
    };
  }

  private boolean tryOnly() {
    return emptyWhenHeld;
  }

  private boolean emptyWhenHeld;

  /** A single try reports a held lock as empty; a wait of zero reports it as a timeout. */
  PendingAcquire emptyWhenHeld() {
    emptyWhenHeld = true;
    return this;
  }

  private void complete() {
    CompletableFuture<Optional<Lease>> f = future;
    if (f != null) {
      client.callbacks().execute(() -> complete(f));
    }
  }

  private void complete(CompletableFuture<Optional<Lease>> f) {
    RuntimeException failure = outcome.failure();
    if (failure != null) {
      f.completeExceptionally(failure);
      return;
    }
    Optional<Lease> result = outcome.result();
    if (!f.complete(result)) {
      result.ifPresent(Lease::releaseAsync); // orTimeout or cancel was faster.
    }
  }
}
