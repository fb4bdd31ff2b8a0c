package dev.redlock.internal.protocol;

import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import org.jspecify.annotations.Nullable;

/**
 * Whether other processes want the lock, and whether this one has served its share at its turn.
 *
 * <p>The naive way asks all nodes at once for the next caller. It starves others in this history: A
 * holds the lock, B waits in another process. A releases, and its next caller asks at once. B's
 * wake-up takes half a round trip, and B's request another half. A is always first. So a process
 * that knows of others goes to the end of the queue before it asks. One that has served callers by
 * hand-off has not asked the nodes for a while. It asks all of them, but the home node must agree;
 * or it asks that node first, see {@link Wait#nodeToQueueAt}.
 *
 * <p>The nodes tell whether there are others: in their votes, and in their replies to a release.
 * Only the home node knows that there is none. In fair mode a process that has seen others queues
 * for as long as it remembers: a newcomer that asks all nodes in the middle of a hand-over may
 * overtake the process whose turn it is.
 */
final class Turn {
  private static final long LINGER_NANOS = 100_000_000;

  /** 16.8 ms. Ends are rounded up to it, so that one wake-up of the timer ends many. */
  private static final long LINGER_STEP = (1L << 24) - 1;

  private boolean othersWant;
  private @Nullable End lastEnd;

  /**
   * The end of a lease.
   *
   * @param handedOff whether this process has served callers by hand-off since it asked the nodes:
   *     others may have come
   */
  private record End(long nanos, boolean fair, boolean handedOff) {}

  /** Until when its state matters; {@link Long#MIN_VALUE} if there is none. */
  long lingersUntilNanos() {
    End end = lastEnd;
    return end == null ? Long.MIN_VALUE : (end.nanos + LINGER_NANOS) | LINGER_STEP;
  }

  /** A round won. */
  void granted(AcquireRound r) {
    othersWant |= r.othersQueued() > 0 || r.sawHolder();
  }

  /** A node has voted. */
  void heard(NodeReply reply) {
    othersWant |= reply.othersQueued() > 0 || reply.code() == Code.HELD;
  }

  /**
   * A node has replied to the release of a lease.
   *
   * @param home whether it is the home node, which knows whether there are others
   */
  void released(NodeReply reply, boolean home) {
    heard(reply);
    End end = lastEnd;
    boolean fair = end != null && end.fair;
    if (home && !fair && reply.code().definite() && reply.othersQueued() == 0) {
      othersWant = false;
      lastEnd = end == null ? null : new End(end.nanos, false, false);
    }
  }

  /**
   * Whether other processes want the lock, as far as is known here. Then this process enters the
   * queue before it asks for the lock.
   */
  boolean othersWant() {
    return othersWant;
  }

  /** A lease has ended, and is being released. */
  void ended(HeldLease l, long now) {
    lastEnd = new End(now, l.options().fair(), l.handOffs > 0);
  }

  /** Another process has the lock, or has its turn. */
  void heldByOthers() {
    othersWant = true;
  }

  /** Whether others may have come since this process asked last, so that the home node decides. */
  boolean needsHome(long now) {
    return lastEnd != null && lastEnd.handedOff && now - lingersUntilNanos() <= 0;
  }
}
