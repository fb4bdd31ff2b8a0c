package dev.redlock.internal;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.LockQueueFullException;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.RedlockClosedException;
import dev.redlock.RedlockListener;
import dev.redlock.internal.protocol.Waiter;
import dev.redlock.spi.LockKeys;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A caller that waits for a lock, with a thread or with a future. If the caller has given up when
 * the grant comes, the lease is released: no lease is lost between the two.
 */
final class PendingAcquire extends Waiter {
  private final ClientContext context;

  /** Empty if another lease has the lock, and {@link #emptyWhenHeld} was called. */
  final CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();

  /** Taken on the caller's thread: the grant comes on another. */
  private final @Nullable Throwable acquiredAt;

  // Both are set before the waiter is submitted. No taker: a thread waits.
  private @Nullable BiConsumer<@Nullable Optional<Lease>, @Nullable Throwable> taker;
  private boolean emptyWhenHeld;

  // Whether it waits in the actor of the lock, and whether it no longer does. Confined to that
  // actor. Listeners know of both.
  private boolean joined;
  private boolean left;

  PendingAcquire(
      ClientContext context,
      LockKeys keys,
      LockOptions options,
      long nowNanos,
      long waitNanos,
      boolean singleTry) {
    super(keys, options, nowNanos, nowNanos + waitNanos, singleTry);
    this.context = context;
    acquiredAt = context.leaks.stackOfCaller();
  }

  /** A single try reports a held lock as empty; a wait of zero reports it as a timeout. */
  PendingAcquire emptyWhenHeld() {
    emptyWhenHeld = true;
    return this;
  }

  /** Gives the result to the taker, on a thread for callbacks, unless the caller gives up. */
  void onResult(BiConsumer<@Nullable Optional<Lease>, @Nullable Throwable> taker) {
    this.taker = taker;
  }

  /**
   * Begins the wait; false if the caller has given up before. Its cancellation overtakes it if the
   * actor of the name has just retired, and posts the caller again, to a new actor.
   */
  boolean join() {
    if (!left) {
      joined = true;
      context.events.joined(this);
    }
    return joined;
  }

  void granted(LeaseCore core) {
    DefaultLease lease = new DefaultLease(core);
    context.leaks.watch(lease, acquiredAt);
    boolean given = result.complete(Optional.of(lease));
    left(given ? AcquireVerdict.ACQUIRED : AcquireVerdict.CANCELLED, null);
    context.events.acquired(this, core); // In any case: listeners learn of its end too.
    if (given) {
      tellTaker(true);
    } else {
      core.releaseUnused(); // The caller cancelled, or was interrupted, meanwhile.
    }
  }

  void refused(AcquireReport report) {
    RuntimeException failure = exception(report);
    boolean given =
        failure == null
            ? result.complete(Optional.empty())
            : result.completeExceptionally(Results.untraced(failure));
    left(given ? report.verdict() : AcquireVerdict.CANCELLED, report);
    tellTaker(given);
  }

  void refusedBecauseClosed() {
    join();
    left(AcquireVerdict.CLOSED, null);
    tellTaker(result.completeExceptionally(Results.untraced(new RedlockClosedException())));
  }

  /** The caller no longer waits. Called in the actor of the lock. */
  void left(AcquireVerdict verdict, @Nullable AcquireReport report) {
    if (joined && !left) {
      context.events.left(this, verdict, report);
    }
    left = true;
  }

  RedlockListener.Caller forListeners() {
    return new RedlockListener.Caller(keys().names(), waits(), options().fair());
  }

  /** What the caller gets; null for an empty result. */
  private @Nullable RuntimeException exception(AcquireReport report) {
    return switch (report.verdict()) {
      case HELD, HELD_LOCALLY, COLLIDED -> emptyWhenHeld ? null : new LockTimeoutException(report);
      case TOO_SLOW, UNDECIDED -> new LockTimeoutException(report);
      case UNAVAILABLE, STALE -> new QuorumUnavailableException("lock not acquired", report);
      case QUEUE_FULL -> new LockQueueFullException(report);
      case CLOSED -> new RedlockClosedException();
      case ACQUIRED, CANCELLED -> new IllegalStateException("not a refusal: " + report);
    };
  }

  private void tellTaker(boolean given) {
    var told = taker;
    if (given && told != null) {
      context.callbacks.execute(() -> result.whenComplete(told));
    }
  }
}
