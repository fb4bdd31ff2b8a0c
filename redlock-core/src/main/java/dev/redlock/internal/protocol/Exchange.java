package dev.redlock.internal.protocol;

import dev.redlock.internal.sets.Members;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One request to several nodes, to which their replies are addressed. Replies of different
 * exchanges can never be mistaken for each other.
 */
public abstract sealed class Exchange
    permits AcquireRound, ExtendRound, PendingRelease, Broadcast, QueueRequest {

  /** Those of which a quorum decides: the members when it was first sent. */
  final Members members;

  /** By node: its newest reply that was recorded. It grows when a new node is asked later. */
  private @Nullable NodeReply[] replies;

  /** Nodes that were asked and have not replied. */
  private long open;

  private long sentNanos;

  Exchange(Nodes nodes) {
    members = nodes.members();
    replies = new NodeReply[nodes.count()];
  }

  /** When it was sent; for one that is repeated, when it was last sent. */
  public final long sentNanos() {
    return sentNanos;
  }

  /** When it was sent to this node. */
  public long sentNanos(int node) {
    return sentNanos;
  }

  final void asked(long mask, long nowNanos) {
    askedToo(mask);
    sentNanos = nowNanos;
  }

  /** These nodes are asked later than the others. */
  final void askedToo(long mask) {
    open |= mask;
  }

  /** Notes that the node has replied; false if it was not asked or has already replied. */
  final boolean answered(int node) {
    long bit = 1L << node;
    boolean first = (open & bit) != 0;
    open &= ~bit;
    return first;
  }

  /** Nothing was sent. */
  final void noneAsked() {
    open = 0;
  }

  final long open() {
    return open;
  }

  final boolean isOpen(int node) {
    return (open & 1L << node) != 0;
  }

  final void record(int node, NodeReply reply) {
    if (node >= replies.length) {
      replies = Arrays.copyOf(replies, node + 1);
    }
    replies[node] = reply;
  }

  /** The node's reply; null if none was recorded. */
  public final @Nullable NodeReply reply(int node) {
    return node < replies.length ? replies[node] : null;
  }

  final @Nullable NodeReply[] replies() {
    return replies;
  }

  final boolean is(int node, Code code) {
    NodeReply reply = reply(node);
    return reply != null && reply.code() == code;
  }

  /** The nodes that have replied so. */
  final long maskOf(Code code) {
    long mask = 0;
    for (int i = 0; i < replies.length; i++) {
      mask |= is(i, code) ? 1L << i : 0;
    }
    return mask;
  }

  /** How many others want the lock, as the nodes say. */
  int othersQueued() {
    int others = 0;
    for (NodeReply reply : replies()) {
      others = Math.max(others, reply == null ? 0 : reply.othersQueued());
    }
    return others;
  }
}
