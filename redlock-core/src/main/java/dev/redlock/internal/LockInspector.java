package dev.redlock.internal;

import dev.redlock.AcquireReport.Vote;
import dev.redlock.internal.protocol.Broadcast;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.text.HolderMark;
import dev.redlock.operations.LockInspection;
import dev.redlock.operations.LockInspection.NodeView;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Shows what every node stores for a name, and breaks locks, for an operator. */
final class LockInspector {
  private final ClientContext context;

  LockInspector(ClientContext context) {
    this.context = context;
  }

  /**
   * @param listens whether the nodes are to send an invalidation of the next change
   */
  CompletableFuture<LockInspection> inspect(LockKeys keys, boolean listens) {
    CompletableFuture<LockInspection> result = new CompletableFuture<>();
    broadcast(
        keys,
        (machine, timeout, now) -> machine.inspect(listens, timeout, now),
        seen -> context.callbacks.execute(() -> result.complete(inspection(keys, seen))));
    return result;
  }

  CompletableFuture<LockInspection> breakLock(LockKeys keys) {
    CompletableFuture<LockInspection> result = new CompletableFuture<>();
    broadcast(
        keys,
        (machine, timeout, now) -> machine.inspect(false, timeout, now),
        seen -> {
          LockInspection before = inspection(keys, seen);
          broadcast(
              keys,
              LockMachine::breakLock,
              done -> {
                tellActors(keys, done)
                    .whenComplete(
                        (told, failure) ->
                            context.callbacks.execute(() -> complete(result, keys, before, done)));
              });
        });
    return result;
  }

  void stopListening(LockKeys keys) {
    context.locks.post(keys, (machine, now, wall) -> machine.stopListening(now));
  }

  private interface Question {
    Broadcast begin(LockMachine machine, long timeoutNanos, long nowNanos);
  }

  /**
   * @param taker called by the actor of these names when the broadcast is over
   */
  private void broadcast(LockKeys keys, Question question, Consumer<Broadcast> taker) {
    context.locks.post(
        keys,
        (machine, now, wall) -> {
          Broadcast b = question.begin(machine, context.nodeTimeoutNanos, now);
          context.broadcasts.put(b, () -> taker.accept(b));
        });
  }

  /**
   * Tells the actors of this client that share the name. Nodes send no invalidation of what this
   * client's own connection has written, and the machine that broke the lock knows its own lease
   * only. The result completes when each of them has ended its lease, if a quorum confirms the
   * break: the caller may take a completed break for the end of all leases of this client.
   */
  private CompletableFuture<?> tellActors(LockKeys keys, Broadcast done) {
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

  private void complete(
      CompletableFuture<LockInspection> result,
      LockKeys keys,
      LockInspection before,
      Broadcast done) {
    if (done.isBroken()) {
      result.complete(before);
      return;
    }
    result.completeExceptionally(
        context.nodes.unavailable(
            "lock not broken",
            keys.names(),
            Vote.GRANTED,
            node -> done.isBroken(node) ? null : why(node, done.reply(node))));
  }

  private LockInspection inspection(LockKeys keys, Broadcast broadcast) {
    List<NodeView> views = new ArrayList<>();
    Members members = context.nodes.members();
    context.nodes.memberIndexes().forEach(i -> views.add(view(i, broadcast.reply(i))));
    return new LockInspection(keys.names().get(0), members.quorum(), views);
  }

  private NodeView view(int node, @Nullable NodeReply reply) {
    NodeState state = context.nodeState(node);
    String stateText =
        state.remaining().isZero()
            ? state.state().name()
            : state.state() + " for " + state.remaining().toMillis() + " ms";
    if (reply == null || !reply.code().definite()) {
      return new NodeView(state.node(), stateText, null, null, 0, why(node, reply), null);
    }
    String mark = reply.code() == Code.HELD ? reply.mark() : null;
    HolderMark holder = mark == null ? null : HolderMark.of(mark);
    return new NodeView(
        state.node(),
        stateText,
        holder == null ? null : holder.hash(),
        holder == null ? null : Duration.ofMillis(reply.remainingMillis()),
        reply.fence(),
        null,
        holder == null ? null : holder.label());
  }

  private String why(int node, @Nullable NodeReply reply) {
    if (reply != null) {
      NodeError error = reply.error();
      return error == null ? reply.code().toString() : error.toString();
    }
    NodeStatus status = context.nodes.status(node);
    if (status.usable()) {
      return NodeError.Kind.TIMEOUT + ": no reply in time";
    }
    // The cause of a broken connection begins with its kind already.
    String kind = NodeError.Kind.DISCONNECTED + ": ";
    return status.cause().startsWith(kind) ? status.cause() : kind + status.cause();
  }
}
