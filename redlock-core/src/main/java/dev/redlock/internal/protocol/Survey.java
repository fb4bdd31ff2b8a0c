package dev.redlock.internal.protocol;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import org.jspecify.annotations.Nullable;

/** One question to all nodes of which every answer is wanted: inspect, or break. */
public final class Survey extends Exchange implements Order.Ticket {
  private final @Nullable NodeReply[] replies;
  private final long deadlineNanos;
  private final long startNanos;
  private final boolean breaks;
  private boolean over;

  Survey(int nodes, boolean breaks, long startNanos, long deadlineNanos) {
    this.breaks = breaks;
    replies = new NodeReply[nodes];
    this.startNanos = startNanos;
    this.deadlineNanos = deadlineNanos;
  }

  /** Begins to ask every node with a probed connection. */
  static Survey begin(
      Nodes nodes,
      LockRequest request,
      long timeoutNanos,
      long nowNanos,
      java.util.List<Order> out) {
    Survey survey =
        new Survey(
            nodes.count(), request instanceof LockRequest.Break, nowNanos, nowNanos + timeoutNanos);
    long mask = 0;
    for (int i = 0; i < nodes.count(); i++) {
      mask |= nodes.status(i).usable() ? 1L << i : 0;
    }
    survey.asked(mask);
    out.add(new Order.Send(survey, request, mask));
    return survey;
  }

  /** What the node said; null if it has not answered. */
  public @Nullable NodeReply reply(int node) {
    return replies[node];
  }

  /** Whether the node has confirmed that the lock, if it had it, is nobody's there now. */
  public boolean isBroken(int node) {
    NodeReply reply = replies[node];
    return reply != null
        && (reply.code() == ReplyCode.RELEASED || reply.code() == ReplyCode.NOT_OWNER);
  }

  /** Whether so many nodes have confirmed it that no holder has a quorum left. */
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

  long startNanos() {
    return startNanos;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  void onReply(int node, NodeReply reply) {
    replies[node] = reply;
  }

  /** True once: when all have answered, or time is up. */
  boolean finish(long nowNanos) {
    if (over || (open() != 0 && deadlineNanos - nowNanos > 0)) {
      return false;
    }
    over = true;
    return true;
  }
}
