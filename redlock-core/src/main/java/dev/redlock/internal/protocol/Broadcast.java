package dev.redlock.internal.protocol;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import org.jspecify.annotations.Nullable;

/** One request to all nodes, of which every reply is wanted: inspect, or break. */
public final class Broadcast extends Exchange implements Effect.Ack {
  private final @Nullable NodeReply[] replies;
  private final long deadlineNanos;
  private final long startNanos;
  private final boolean breaks;

  Broadcast(int nodes, boolean breaks, long startNanos, long deadlineNanos) {
    this.breaks = breaks;
    replies = new NodeReply[nodes];
    this.startNanos = startNanos;
    this.deadlineNanos = deadlineNanos;
  }

  /** Sends the request to every node with a probed connection. */
  static Broadcast begin(
      Nodes nodes,
      LockRequest request,
      long timeoutNanos,
      long nowNanos,
      java.util.List<Effect> out) {
    Broadcast broadcast =
        new Broadcast(
            nodes.count(), request instanceof LockRequest.Break, nowNanos, nowNanos + timeoutNanos);
    long mask = 0;
    for (int i = 0; i < nodes.count(); i++) {
      mask |= nodes.status(i).usable() ? 1L << i : 0;
    }
    broadcast.asked(mask);
    out.add(new Effect.Send(broadcast, request, mask));
    return broadcast;
  }

  /** The node's reply; null if it has not replied. */
  public @Nullable NodeReply reply(int node) {
    return replies[node];
  }

  /** Whether the node has confirmed that it stores no lease of this lock now. */
  public boolean isBroken(int node) {
    NodeReply reply = replies[node];
    return reply != null
        && (reply.code() == ReplyCode.RELEASED || reply.code() == ReplyCode.NOT_OWNER);
  }

  /** Whether so many nodes have confirmed it that no lease has a quorum left. */
  public boolean isBroken() {
    int confirmed = 0;
    for (int i = 0; i < replies.length; i++) {
      confirmed += isBroken(i) ? 1 : 0;
    }
    return confirmed >= Quorum.of(replies.length);
  }

  /** Whether it takes the lock from its holder. */
  boolean breaks() {
    return breaks;
  }

  @Override
  public long sentNanos() {
    return startNanos;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  void onReply(int node, NodeReply reply) {
    replies[node] = reply;
  }

  /** Whether all nodes have replied, or the timeout is over. */
  boolean isOver(long nowNanos) {
    return open() == 0 || deadlineNanos - nowNanos <= 0;
  }
}
