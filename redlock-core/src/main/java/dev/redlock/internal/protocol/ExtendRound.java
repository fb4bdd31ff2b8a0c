package dev.redlock.internal.protocol;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyCode;
import org.jspecify.annotations.Nullable;

/**
 * One question to all nodes to let the lease live on, and its answers. Three-valued to the end: a
 * round without a quorum of either kind has told nothing, and the old deadline stands.
 *
 * <p>It heals as it goes: a node that had lost the key stores it again (REPAIRED). A quarantined
 * node stores it too, but its answer counts only once this client has kept it in quarantine for
 * {@link #QUARANTINE_COUNTS_NANOS}: by then no vote that it may have forgotten can still be counted
 * by anybody, a round lasting a second at most. The failing history (N = 3): A holds n2 and n3; B
 * has a vote of n1 and waits; n1 restarts empty; A's extension repairs n1 and counts it; n2's key
 * expires; B counts n1 and n2. Two owners, unless votes age and young nodes do not count.
 */
final class ExtendRound extends Exchange {
  static final long QUARANTINE_COUNTS_NANOS = 3_000_000_000L;

  /** What the answers amount to. */
  enum Verdict {
    UNDECIDED,
    RENEWED,
    LOST,
    UNKNOWN
  }

  final HeldLease lease;
  final LockRequest.Extend request;
  final Validity validity;
  final long startNanos;
  private final long timeoutNanos;
  private final Nodes nodes;
  private final @Nullable NodeReply[] replies;
  private final boolean heal;
  private Verdict verdict = Verdict.UNDECIDED;

  /**
   * @param heal whether it only brings the lease to nodes that missed it, and decides nothing
   */
  ExtendRound(
      Nodes nodes,
      HeldLease lease,
      LockRequest.Extend request,
      long driftNanos,
      long timeoutNanos,
      boolean heal,
      long nowNanos,
      long nowWallMillis) {
    this.nodes = nodes;
    this.lease = lease;
    this.request = request;
    this.timeoutNanos = timeoutNanos;
    this.heal = heal;
    startNanos = nowNanos;
    validity = new Validity(nowNanos, nowWallMillis, request.ttlMillis() * 1_000_000L, driftNanos);
    replies = new NodeReply[nodes.count()];
  }

  /** Which of the nodes can be asked: all with a probed connection, quarantined or not. */
  long begin(long candidates) {
    long mask = 0;
    for (int i = 0; i < replies.length; i++) {
      if ((candidates & 1L << i) != 0 && nodes.status(i).usable()) {
        mask |= 1L << i;
      }
    }
    asked(mask);
    return mask;
  }

  boolean heals() {
    return heal;
  }

  long deadlineNanos() {
    return startNanos + timeoutNanos;
  }

  Verdict verdict() {
    return verdict;
  }

  @Nullable NodeReply[] replies() {
    return replies;
  }

  Verdict onReply(int node, NodeReply reply, long nowNanos, long nowWallMillis) {
    replies[node] = reply;
    if (verdict == Verdict.UNDECIDED && !heal) {
      verdict = judge(nowNanos, nowWallMillis, false);
    }
    return verdict;
  }

  Verdict onTimeout(long nowNanos, long nowWallMillis) {
    if (verdict == Verdict.UNDECIDED && !heal) {
      verdict = judge(nowNanos, nowWallMillis, true);
    }
    return verdict;
  }

  private Verdict judge(long nowNanos, long nowWallMillis, boolean timedOut) {
    boolean tooOld = validity.elapsed(nowNanos, nowWallMillis) > timeoutNanos;
    int renewed = 0;
    int lost = 0;
    int undecided = 0;
    for (int i = 0; i < replies.length; i++) {
      NodeReply reply = replies[i];
      if (reply == null) {
        undecided += isOpen(i) && !timedOut && !tooOld ? 1 : 0;
        continue;
      }
      boolean yes = reply.code() == ReplyCode.EXTENDED || reply.code() == ReplyCode.REPAIRED;
      if (yes && counts(i, reply, nowNanos)) {
        renewed++;
      } else if (reply.code() == ReplyCode.LOST && votes(i, reply)) {
        lost++;
      }
    }
    int quorum = Quorum.of(replies.length);
    if (renewed >= quorum) {
      // An extension that comes after the old deadline would revive what others may have by now.
      boolean inTime = !tooOld && lease.validity().remaining(nowNanos, nowWallMillis) > 0;
      return inTime ? Verdict.RENEWED : Verdict.UNKNOWN;
    }
    if (lost >= Quorum.blocking(replies.length)) {
      return Verdict.LOST;
    }
    return renewed + undecided >= quorum || (undecided > 0 && lostPossible(lost, undecided))
        ? Verdict.UNDECIDED
        : Verdict.UNKNOWN;
  }

  private boolean lostPossible(int lost, int undecided) {
    return lost + undecided >= Quorum.blocking(replies.length);
  }

  private boolean votes(int node, NodeReply reply) {
    NodeStatus status = nodes.status(node);
    return status.connection() == reply.connection() && status.state() == NodeStatus.State.VOTING;
  }

  private boolean counts(int node, NodeReply reply, long nowNanos) {
    NodeStatus status = nodes.status(node);
    if (status.connection() != reply.connection()) {
      return false;
    }
    return switch (status.state()) {
      case VOTING -> true;
      case QUARANTINED -> nowNanos - status.sinceNanos() >= QUARANTINE_COUNTS_NANOS;
      default -> false;
    };
  }

  int repaired() {
    int count = 0;
    for (NodeReply reply : replies) {
      count += reply != null && reply.code() == ReplyCode.REPAIRED ? 1 : 0;
    }
    return count;
  }
}
