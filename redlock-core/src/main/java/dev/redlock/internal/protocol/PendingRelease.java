package dev.redlock.internal.protocol;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import org.jspecify.annotations.Nullable;

/** One lease id that some nodes may store, and that is released there. Fields are its owner's. */
final class PendingRelease extends Exchange {
  final LockRequest.Release request;

  /** Until when its keys can live. */
  long untilNanos;

  /** Settled when a quorum has confirmed; null if no caller waits, or none waits any more. */
  Effect.@Nullable Ack ack;

  long ackDeadlineNanos;

  /** Nodes that have not confirmed. */
  long todo;

  /** Nodes whose reply to the hand-off that takes this lease over is still to come. */
  long behind;

  long behindUntilNanos;

  PendingRelease(LockRequest.Release request, int nodes) {
    super(nodes);
    this.request = request;
  }

  int confirmed() {
    int confirmed = 0;
    for (NodeReply reply : replies()) {
      confirmed += reply != null && reply.code().definite() ? 1 : 0;
    }
    return confirmed;
  }
}
