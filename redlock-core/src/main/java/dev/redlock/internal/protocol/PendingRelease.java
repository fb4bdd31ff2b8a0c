package dev.redlock.internal.protocol;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply.Code;
import org.jspecify.annotations.Nullable;

/** The release of one lease id on the nodes that may store it. {@link PendingReleases} owns it. */
final class PendingRelease extends Exchange {
  final LockRequest.Release request;

  /** Until when its keys can live. */
  final long untilNanos;

  /** Nodes that have not confirmed. */
  long todo;

  /** Those of them that it must not be sent to yet: see the slot. */
  long held;

  /** Nodes that were kept back from the round, and never got the lease: there it is released. */
  long untouched;

  /** Settled when a quorum has confirmed; null if no caller waits, or none waits any more. */
  Effect.@Nullable Ack ack;

  /** Until when the caller waits. */
  long deadlineNanos;

  /** Its place behind the extensions; null if its lease has not expired. */
  @Nullable ExtendSlot slot;

  PendingRelease(LockRequest.Release request, long untilNanos, Nodes nodes) {
    super(nodes);
    this.request = request;
    this.untilNanos = untilNanos;
  }

  boolean isConfirmed() {
    long confirmed = untouched | maskOf(Code.RELEASED) | maskOf(Code.NOT_OWNER);
    return Long.bitCount(confirmed) >= members.quorum();
  }
}
