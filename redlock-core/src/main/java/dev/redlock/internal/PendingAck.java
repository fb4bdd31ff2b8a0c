package dev.redlock.internal;

import dev.redlock.AcquireReport;
import dev.redlock.FencingToken;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.internal.protocol.Effect;
import dev.redlock.internal.protocol.HeldLease;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A thread or a future, or both, that wait for a release or an extension. */
final class PendingAck extends Completion<Boolean> implements Effect.Ack {
  private final String what;
  private final HeldLease lease;
  private final Executor callbacks;

  /** Made at most once, by the first caller; completed by the queue or by that caller. */
  private volatile @Nullable CompletableFuture<Void> future;

  PendingAck(String what, HeldLease lease, Executor callbacks) {
    this.what = what;
    this.lease = lease;
    this.callbacks = callbacks;
  }

  /** The future of this ack; each call returns the same one. */
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

  void settle(Effect.Result result) {
    AcquireReport failure = result.failure();
    LeaseEnd over = result.ended();
    if (failure != null) {
      fail(new QuorumUnavailableException(what + " not confirmed by a quorum", failure));
    } else if (over != null) {
      fail(new LeaseLostException(lease.keys().names(), new FencingToken(lease.token()), over));
    } else {
      succeed(true);
    }
    CompletableFuture<Void> f = future; // Read after the result is set: future() does the reverse.
    if (f != null) {
      callbacks.execute(() -> complete(f));
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
