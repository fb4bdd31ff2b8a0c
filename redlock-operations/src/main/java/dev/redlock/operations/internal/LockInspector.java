package dev.redlock.operations.internal;

import dev.redlock.AcquireReport.Vote;
import dev.redlock.internal.operations.OperatorClient;
import dev.redlock.internal.operations.OperatorClient.Replies;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.text.HolderMark;
import dev.redlock.internal.text.Printable;
import dev.redlock.operations.LockInspection;
import dev.redlock.operations.LockInspection.NodeView;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.NodeState.State;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Shows what every node stores for a name, and breaks locks, for an operator. */
record LockInspector(OperatorClient client) {

  /**
   * @param listens whether the nodes are to send an invalidation of the next change
   */
  CompletionStage<LockInspection> inspect(LockKeys keys, boolean listens) {
    return client
        .inspectOnAll(keys, listens)
        .thenApplyAsync(seen -> inspection(keys, seen), client.callbacks());
  }

  CompletableFuture<LockInspection> breakLock(LockKeys keys) {
    CompletableFuture<LockInspection> result = new CompletableFuture<>();
    client
        .inspectOnAll(keys, false)
        .thenCompose(
            seen -> {
              LockInspection before = inspection(keys, seen);
              return client
                  .breakOnAll(keys)
                  .thenAcceptAsync(
                      done -> complete(result, keys, before, done), client.callbacks());
            })
        .exceptionally(
            e -> {
              result.completeExceptionally(e);
              return null;
            });
    return result;
  }

  private void complete(
      CompletableFuture<LockInspection> result,
      LockKeys keys,
      LockInspection before,
      Replies done) {
    if (done.isBroken()) {
      result.complete(before);
      return;
    }
    result.completeExceptionally(
        Refusals.unavailable(
            client,
            "lock not broken",
            keys.names(),
            Vote.GRANTED,
            node -> done.broken().test(node) ? null : why(node, done.reply().apply(node))));
  }

  private LockInspection inspection(LockKeys keys, Replies replies) {
    List<NodeView> views = new ArrayList<>();
    Members members = client.members();
    IntFunction<@Nullable String> why = Refusals.objections(client);
    members.indexes().forEach(i -> views.add(view(i, replies.reply().apply(i), why.apply(i))));
    return new LockInspection(keys.names().get(0), members.quorum(), views);
  }

  private NodeView view(int node, @Nullable NodeReply reply, @Nullable String objection) {
    NodeState state = client.state(node);
    String stateText =
        state.remaining().isZero()
            ? state.state().name()
            : state.state() + " for " + Printable.about(state.remaining());
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
        holder == null ? objection : null,
        holder == null ? null : holder.label());
  }

  private String why(int node, @Nullable NodeReply reply) {
    if (reply != null) {
      NodeError error = reply.error();
      return error == null ? reply.code().toString() : error.toString();
    }
    NodeState state = client.state(node);
    if (state.state() != State.CONNECTING && state.state() != State.PROBING) {
      return NodeError.Kind.TIMEOUT + ": no reply in time";
    }
    // The cause of a broken connection begins with its kind already.
    String kind = NodeError.Kind.DISCONNECTED + ": ";
    return state.cause().startsWith(kind) ? state.cause() : kind + state.cause();
  }
}
