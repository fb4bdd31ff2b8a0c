package dev.redlock.internal;

import dev.redlock.AcquireReport;
import dev.redlock.FencingToken;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Order;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Somebody who waits for a release or an extension: a thread, a future, or both. */
final class Ticket extends Completion<Boolean> implements Order.Ticket {
  private final String what;
  private final HeldLease lease;
  private final Executor callbacks;

  /** Made at most once, by whoever asks first; completed by the queue or by the maker. */
  private volatile @Nullable CompletableFuture<Void> future;

  Ticket(String what, HeldLease lease, Executor callbacks) {
    this.what = what;
    this.lease = lease;
    this.callbacks = callbacks;
  }

  /** A future of the same; always the same one. */
  synchronized CompletableFuture<Void> future() {
    CompletableFuture<Void> f = future;
    if (f == null) {
      f = new CompletableFuture<>();
      future = f;
      if (isDone()) {
        complete(f);
      }
    }
    return f;
  }

  void settle(Order.Outcome outcome) {
    AcquireReport failure = outcome.failure();
    LeaseEnd over = outcome.ended();
    if (failure != null) {
      fail(new QuorumUnavailableException(what + " not confirmed by a quorum", failure));
    } else if (over != null) {
      fail(new LeaseLostException(lease.keys().names(), new FencingToken(lease.token()), over));
    } else {
      succeed(true);
    }
    CompletableFuture<Void> f;
    synchronized (this) { // Held for two field reads; nobody waits in it.
      f = future;
    }
    if (f != null) {
      CompletableFuture<Void> waiting = f;
      callbacks.execute(() -> complete(waiting));
    }
  }

  private void complete(CompletableFuture<Void> f) {
    RuntimeException failure = failure();
    if (failure != null) {
      f.completeExceptionally(failure);
    } else {
      f.complete(null);
    }
  }
}
