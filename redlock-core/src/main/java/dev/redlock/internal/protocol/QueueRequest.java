package dev.redlock.internal.protocol;

import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import org.jspecify.annotations.Nullable;

/**
 * Asks one node to queue this process, or to send an invalidation when a lock key changes there. No
 * vote: nothing but waiting depends on its reply.
 */
final class QueueRequest extends Exchange {
  final int node;

  /** When the node counts as hung, if the head waits for the reply. */
  final long deadlineNanos;

  /** Fair mode: the caller for which it was sent while this process held the lock; or null. */
  final @Nullable Waiter next;

  QueueRequest(Nodes nodes, int node, long nowNanos, long deadlineNanos, @Nullable Waiter next) {
    super(nodes);
    this.node = node;
    this.deadlineNanos = deadlineNanos;
    this.next = next;
    asked(1L << node, nowNanos);
  }

  @Nullable NodeReply reply() {
    return reply(node);
  }

  /**
   * Whether it was sent while this process held the lock, and the node has replied that no process
   * was queued before it.
   */
  boolean isFirstAfterOwnLease() {
    NodeReply r = reply();
    return next != null && r != null && r.code() == Code.HELD && r.othersQueued() == 0;
  }
}
