package dev.redlock.internal;

import dev.redlock.internal.operations.OperatorClient.Replies;
import dev.redlock.internal.protocol.Broadcast;
import dev.redlock.internal.protocol.Effect;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Requests of operators to all nodes. The actors of the names take no part; they are told of a
 * break as of what nodes report. Safe from any thread.
 *
 * @param open the broadcasts in progress, and what completes when one is over; its monitor guards
 *     the broadcasts too
 */
record OperatorRequests(ClientContext context, Map<Broadcast, CompletableFuture<Broadcast>> open) {

  OperatorRequests(ClientContext context) {
    this(context, Collections.synchronizedMap(new LinkedHashMap<>()));
  }

  CompletableFuture<Replies> inspect(LockKeys keys, boolean listens) {
    LockRequest request = new LockRequest.Inspect(keys, listens);
    return begin(new Broadcast(context.nodes, request, context.time.nanos()))
        .thenApply(OperatorRequests::replies);
  }

  /** By a token above all leases of this client: nodes that do not store them end them as well. */
  CompletableFuture<Replies> breakLock(LockKeys keys) {
    long own = 0;
    for (LockActor actor : context.locks.of(keys.lockKey(0))) {
      HeldLease lease = actor.lease();
      own = lease == null ? own : Math.max(own, lease.token());
    }
    return begin(Broadcast.breaking(context.nodes, keys, own, context.time.nanos()))
        .thenCompose(done -> tellActors(keys, done).thenApply(told -> replies(done)));
  }

  private static Replies replies(Broadcast b) {
    return new Replies(b::reply, b::isBroken, b.isBroken());
  }

  /** Completes when all nodes have replied, after the node timeout, or when the client ends. */
  private CompletableFuture<Broadcast> begin(Broadcast b) {
    CompletableFuture<Broadcast> over = new CompletableFuture<>();
    open.put(b, over);
    Effect.Send send = b.send();
    LockRequest request = send.request();
    long timeout = context.nodeTimeoutNanos;
    context.schedule(() -> end(b), b.sentNanos() + timeout, timeout);
    context.nodes.send(send, node -> reply -> onReply(b, request, node, reply));
    if (send.mask() == 0 || context.locks.isEnded()) {
      end(b);
    }
    return over;
  }

  private void onReply(Broadcast b, LockRequest request, int node, NodeReply reply) {
    long now = context.time.nanos();
    NodeRequestCounts counts = context.nodeRequests;
    if (counts != null) {
      counts.add(request, node, reply, now - b.sentNanos());
    }
    if (request instanceof LockRequest.Break && reply.code().definite()) {
      // Nodes send no invalidation of what this client's own connection has written.
      context.locks.invalidated(request.keys().lockKey(0), node);
    }
    boolean last;
    synchronized (open) { // Once it is over, others read it.
      last = open.containsKey(b) && b.onReply(node, reply, now);
    }
    if (last) {
      end(b);
    }
  }

  private void end(Broadcast b) {
    CompletableFuture<Broadcast> over = open.remove(b);
    if (over != null) {
      over.complete(b);
    }
  }

  /** Nodes and timers are closed. A request that begins later sees that, and ends at once. */
  void end() {
    List.copyOf(open.keySet()).forEach(this::end);
  }

  /**
   * Tells the actors of this client that share the name. The result completes when each of them has
   * ended its lease, if a quorum confirms the break: the caller may take a completed break for the
   * end of all leases of this client.
   */
  private CompletableFuture<Void> tellActors(LockKeys keys, Broadcast done) {
    List<CompletableFuture<?>> told = new ArrayList<>();
    for (LockActor actor : context.locks.of(keys.lockKey(0))) {
      CompletableFuture<Boolean> handled = new CompletableFuture<>();
      told.add(handled);
      actor.post(
          (machine, now, wall) -> {
            try {
              machine.broken(done::hasEnded, now, wall);
            } finally {
              handled.complete(true);
            }
          });
    }
    return CompletableFuture.allOf(told.toArray(new CompletableFuture<?>[0]));
  }
}
