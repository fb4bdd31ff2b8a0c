package dev.redlock.internal;

import dev.redlock.internal.operations.OperatorClient.Replies;
import dev.redlock.internal.protocol.Broadcast;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeReply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Requests of operators to all nodes, by the actor of the lock. */
record OperatorRequests(ClientContext context) {

  CompletableFuture<Replies> inspect(LockKeys keys, boolean listens) {
    return broadcast(keys, (machine, timeout, now) -> machine.inspect(listens, timeout, now))
        .thenApply(OperatorRequests::replies);
  }

  CompletableFuture<Replies> breakLock(LockKeys keys) {
    return broadcast(keys, LockMachine::breakLock)
        .thenCompose(done -> tellActors(keys, done).thenApply(told -> replies(done)));
  }

  private static Replies replies(Broadcast b) {
    return new Replies(b::reply, b::isBroken, b.isBroken());
  }

  private interface Question {
    Broadcast begin(LockMachine machine, long timeoutNanos, long nowNanos);
  }

  /** The actor of these names completes it when the broadcast is over. */
  private CompletableFuture<Broadcast> broadcast(LockKeys keys, Question question) {
    CompletableFuture<Broadcast> over = new CompletableFuture<>();
    context.locks.post(
        keys,
        (machine, now, wall) -> {
          Broadcast b = question.begin(machine, context.nodeTimeoutNanos, now);
          context.broadcasts.put(b, () -> over.complete(b));
        });
    return over;
  }

  /**
   * Tells the actors of this client that share the name. Nodes send no invalidation of what this
   * client's own connection has written, and the machine that broke the lock knows its own lease
   * only. The result completes when each of them has ended its lease, if a quorum confirms the
   * break: the caller may take a completed break for the end of all leases of this client.
   */
  private CompletableFuture<Void> tellActors(LockKeys keys, Broadcast done) {
    List<CompletableFuture<?>> told = new ArrayList<>();
    for (LockActor actor : context.locks.of(keys.lockKey(0))) {
      CompletableFuture<Boolean> handled = new CompletableFuture<>();
      told.add(handled);
      actor.post(
          (machine, now, wall) -> {
            try {
              machine.broken(done, now, wall);
              if (!actor.keys().equals(keys)) {
                hint(machine, keys, done, now, wall);
              }
            } finally {
              handled.complete(true);
            }
          });
    }
    return CompletableFuture.allOf(told.toArray(new CompletableFuture<?>[0]));
  }

  private void hint(LockMachine machine, LockKeys keys, Broadcast done, long now, long wall) {
    for (int n = 0; n < context.nodes.count(); n++) {
      NodeReply reply = done.reply(n);
      if (reply != null && reply.code().definite()) {
        machine.onInvalidation(n, keys.lockKey(0), now, wall);
      }
    }
  }
}
