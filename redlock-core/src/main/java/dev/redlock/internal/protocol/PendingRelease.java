package dev.redlock.internal.protocol;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import org.jspecify.annotations.Nullable;

/** The release of one lease id on the nodes that may store it. {@link PendingReleases} owns it. */
final class PendingRelease extends Exchange {
  final LockRequest.Release request;

  /** Until when its keys can live. */
  long untilNanos;

  /** Settled when a quorum has confirmed; null if no caller waits, or none waits any more. */
  Effect.@Nullable Ack ack;

  long ackDeadlineNanos;

  /** Nodes that have not confirmed. */
  long todo;

  /** Nodes that were kept back from the round, and never got the lease: there it is released. */
  long untouched;

  /** Nodes that may take this lease over: their reply to the hand-off round is still to come. */
  long handingOff;

  long handingOffUntilNanos;

  /** Its place behind the extensions; null if its lease has not expired. */
  @Nullable ExtendSlot slot;

  /** Nodes to which it is sent when it gets this place. */
  long waiting;

  PendingRelease(LockRequest.Release request, Nodes nodes) {
    super(nodes);
    this.request = request;
  }

  int confirmed() {
    int confirmed = Long.bitCount(untouched);
    for (NodeReply reply : replies()) {
      confirmed += reply != null && reply.code().definite() ? 1 : 0;
    }
    return confirmed;
  }
}
