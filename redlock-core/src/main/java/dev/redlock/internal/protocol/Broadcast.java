package dev.redlock.internal.protocol;

import static java.util.Objects.requireNonNull;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply.Code;

/** One request to all nodes, of which every reply is wanted: inspect, or break. */
public final class Broadcast extends Exchange implements Effect.Ack {
  private final LockRequest request;
  final long deadlineNanos;

  /** For each node with a probed connection. */
  Broadcast(Nodes nodes, LockRequest request, long timeoutNanos, long nowNanos) {
    super(nodes);
    this.request = request;
    deadlineNanos = nowNanos + timeoutNanos;
    asked(nodes.usable(), nowNanos);
  }

  /** Whether the node has confirmed that it stores no lease of this lock now. */
  public boolean isBroken(int node) {
    return is(node, Code.RELEASED) || is(node, Code.NOT_OWNER);
  }

  /** Whether so many nodes have confirmed it that no lease has a quorum left. */
  public boolean isBroken() {
    return members.hasQuorum(this::isBroken);
  }

  /**
   * Whether so many nodes have ended all leases up to this token that none of them has a quorum.
   */
  boolean hasEnded(long token) {
    return members.hasQuorum(i -> isBroken(i) && requireNonNull(reply(i)).fence() >= token);
  }

  /** Whether it takes the lock from its holder. */
  boolean breaks() {
    return request instanceof LockRequest.Break;
  }

  /** Whether all nodes have replied, or the timeout is over. */
  boolean isOver(long nowNanos) {
    return open() == 0 || deadlineNanos - nowNanos <= 0;
  }
}
