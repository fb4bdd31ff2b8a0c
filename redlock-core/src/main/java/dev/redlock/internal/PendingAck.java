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
final class PendingAck implements Effect.Ack {
  private final String what;
  private final HeldLease lease;
  private final Executor callbacks;

  final CompletableFuture<Void> result = new CompletableFuture<>();

  /** The user's. Guarded by this. */
  private @Nullable CompletableFuture<Void> future;

  PendingAck(String what, HeldLease lease, Executor callbacks) {
    this.what = what;
    this.lease = lease;
    this.callbacks = callbacks;
  }

  /** The user's future of this ack; each call returns the same one. */
  synchronized CompletableFuture<Void> future() {
    CompletableFuture<Void> users = future;
    if (users == null) {
      users = new CompletableFuture<>();
      future = users;
      Results.relay(result, users, result.isDone() ? Runnable::run : callbacks);
    }
    return users;
  }

  void settle(Effect.Result settled) {
    AcquireReport failure = settled.failure();
    LeaseEnd over = settled.ended();
    if (failure != null) {
      result.completeExceptionally(
          Results.untraced(
              new QuorumUnavailableException(what + " not confirmed by a quorum", failure)));
    } else if (over != null) {
      result.completeExceptionally(
          Results.untraced(
              new LeaseLostException(lease.keys().names(), new FencingToken(lease.token()), over)));
    } else {
      result.complete(null);
    }
  }
}
