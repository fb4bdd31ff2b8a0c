package dev.redlock.internal.protocol;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyCode;
import org.jspecify.annotations.Nullable;

/**
 * The question of an {@link AcquireRound}, with one lease id and one token, and the votes on it.
 *
 * <p>A vote counts for a limited time. It is judged when the deciding vote is processed, never by a
 * timer alone. First, its connection must be the one that the node has now: a node that reconnects
 * may have restarted without its keys. Second, the round must not be older than the node timeout: a
 * node that restarted is kept from voting for longer than that, so no client can still count a vote
 * that a node has forgotten.
 */
abstract sealed class Votes extends Exchange permits AcquireRound {
  final LockRequest.Acquire request;
  final long timeoutNanos;
  final boolean fair;
  final Validity validity;
  final Nodes nodes;

  private final long[] answeredNanos;
  private final @Nullable NodeStatus[] notAsked;
  private AcquireVerdict verdict = AcquireVerdict.UNDECIDED;
  private long sent;
  private long sentBefore;
  private long superseded;
  private boolean closed;
  private long overdueNanos;

  /** Whether the verdict counts each node that had not replied as silent. */
  private boolean timedOut;

  /**
   * Asks all nodes that vote. The others are recorded as silent or quarantined, with the state that
   * they have now.
   */
  Votes(
      Nodes nodes,
      LockRequest.Acquire request,
      LockConfig config,
      long nowNanos,
      long nowWallMillis) {
    super(nodes.count());
    this.nodes = nodes;
    this.request = request;
    fair = config.fair();
    timeoutNanos = config.nodeTimeoutNanos();
    validity = new Validity(nowNanos, nowWallMillis, config.ttlNanos(), config.driftNanos());
    answeredNanos = new long[nodes.count()];
    notAsked = new NodeStatus[nodes.count()];
    for (int i = 0; i < nodes.count(); i++) {
      NodeStatus status = nodes.status(i);
      if (status.votes()) {
        sent |= 1L << i;
      } else {
        notAsked[i] = status;
      }
    }
    asked(sent, nowNanos);
  }

  /** Whether a quorum is not enough, because another vote must come first. */
  abstract boolean needsMore();

  /** Whether it would take over the keys of a lease that this client holds. */
  final boolean isHandOff() {
    return request.previousLeaseId() != null;
  }

  final long deadlineNanos() {
    return sentNanos() + timeoutNanos;
  }

  /** How long after the node timeout it was decided: this client was paused or overloaded. */
  final long overdueNanos() {
    return overdueNanos;
  }

  final AcquireVerdict verdict() {
    return verdict;
  }

  /** The nodes that this question was sent to, and that may therefore store its key. */
  final long sentMask() {
    return sent;
  }

  /** The question was not sent to the node, or not executed there: there is nothing to undo. */
  final void notSent(int node) {
    sent &= ~(1L << node);
  }

  /** The verdict came before anything was sent: there are no replies, and nothing to roll back. */
  final void neverSent() {
    for (int i = 0; i < nodes.count(); i++) {
      answered(i);
    }
    sent = 0;
    closed = true;
  }

  /** This question follows the other one under the same lease id. */
  final void follow(Votes before) {
    sentBefore = before.writtenMask();
    before.superseded |= sent;
  }

  /** The nodes that this question, or one that it follows, was sent to. */
  final long writtenMask() {
    return sent | sentBefore;
  }

  /** Whether the node was sent no other question of the same lease id. */
  final boolean isOnlyQuestion(int node) {
    return ((sentBefore | superseded) & 1L << node) == 0;
  }

  /** Whether a later question is responsible for what this one left on the node. */
  final boolean isSuperseded(int node) {
    return (superseded & 1L << node) != 0;
  }

  /** No further reply is waited for, although some nodes have not replied. */
  final void close() {
    closed = true;
  }

  final boolean isClosed() {
    return closed;
  }

  final long[] answeredNanos() {
    return answeredNanos;
  }

  /** The state in which the node was not asked, or null. */
  final @Nullable NodeStatus notAsked(int node) {
    return notAsked[node];
  }

  // Votes.

  /** Records a vote, and the verdict if this vote decides. */
  final AcquireVerdict onReply(int node, NodeReply reply, long nowNanos, long nowWallMillis) {
    record(node, reply, nowNanos);
    return decide(nowNanos, nowWallMillis, false);
  }

  /** Records a vote that came too late to decide: only reports show it. */
  final void record(int node, NodeReply reply, long nowNanos) {
    record(node, reply);
    answeredNanos[node] = nowNanos;
  }

  /** The verdict before anything is sent; undecided if enough nodes vote. */
  final AcquireVerdict atOnce(long nowNanos, long nowWallMillis) {
    return decide(nowNanos, nowWallMillis, false);
  }

  /** The verdict if each node that has not replied is silent. */
  final AcquireVerdict onTimeout(long nowNanos, long nowWallMillis) {
    return decide(nowNanos, nowWallMillis, true);
  }

  final AcquireVerdict decide(long nowNanos, long nowWallMillis, boolean atTimeout) {
    if (verdict == AcquireVerdict.UNDECIDED
        && latch(judge(nowNanos, nowWallMillis, atTimeout)) != AcquireVerdict.UNDECIDED) {
      timedOut = atTimeout;
      overdueNanos = Math.max(0, validity.elapsed(nowNanos, nowWallMillis) - timeoutNanos);
    }
    return verdict;
  }

  final AcquireVerdict latch(AcquireVerdict decided) {
    verdict = decided;
    return decided;
  }

  final AcquireVerdict judge(long nowNanos, long nowWallMillis, boolean atTimeout) {
    boolean tooOld = validity.elapsed(nowNanos, nowWallMillis) > timeoutNanos;
    // A round that is too old still hears the replies that have arrived: its report needs them.
    QuorumTally tally = tally(atTimeout);
    if (isQueued()) {
      // It is the turn of another process. Its votes will refuse this one sooner or later.
      return AcquireVerdict.HELD;
    }
    if (tally.isWon()) {
      if (!atTimeout && !tooOld && needsMore()) {
        return AcquireVerdict.UNDECIDED;
      }
      boolean inTime = !tooOld && validity.remaining(nowNanos, nowWallMillis) > 0;
      return inTime ? AcquireVerdict.WON : AcquireVerdict.TOO_SLOW;
    }
    return tally.mayBeWon() ? AcquireVerdict.UNDECIDED : refusal(tally);
  }

  /**
   * The second token was refused like the first. If so many of the free nodes accept a later one
   * that a quorum may, then clocks are no obstacle. Grants to others raised the fences between the
   * two.
   */
  final void overtaken(int acceptLater) {
    QuorumTally tally = tally(timedOut);
    if (acceptLater + tally.held + tally.open >= tally.quorum()) {
      latch(AcquireVerdict.COLLIDED);
    }
  }

  private AcquireVerdict refusal(QuorumTally tally) {
    if (tally.isBlockedBy(tally.silent)) {
      return AcquireVerdict.UNAVAILABLE;
    }
    if (tally.stale > 0 && !tally.isBlockedBy(tally.held + tally.silent)) {
      return AcquireVerdict.STALE;
    }
    if (tally.held == 0) {
      return tally.stale > 0 ? AcquireVerdict.STALE : AcquireVerdict.UNAVAILABLE;
    }
    return isHeldBySome(tally.quorum(), tally.open + tally.silent)
        ? AcquireVerdict.HELD
        : AcquireVerdict.COLLIDED;
  }

  private QuorumTally tally(boolean atTimeout) {
    QuorumTally tally = new QuorumTally(nodes.count());
    for (int i = 0; i < nodes.count(); i++) {
      NodeReply reply = reply(i);
      if (reply != null) {
        count(tally, i, reply);
      } else if (isOpen(i) && !atTimeout) {
        tally.open++;
      } else if (isOpen(i) || notAsked[i] != null) {
        tally.silent++;
      }
    }
    return tally;
  }

  private void count(QuorumTally tally, int node, NodeReply reply) {
    switch (reply.code()) {
      case GRANTED -> {
        if (nodes.votes(node, reply)) {
          tally.granted++;
        } else {
          tally.silent++;
        }
      }
      case HELD, QUEUED -> tally.held++;
      case STALE -> tally.stale++;
      default -> tally.silent++;
    }
  }

  // What the votes say of others.

  /** Whether one other lease could have a quorum, if the unknown nodes stored it as well. */
  final boolean isHeldBySome(int quorum, int unknown) {
    for (int i = 0; i < nodes.count(); i++) {
      NodeReply reply = reply(i);
      if (is(i, ReplyCode.QUEUED)
          || (reply != null && is(i, ReplyCode.HELD) && markCount(reply) + unknown >= quorum)) {
        return true;
      }
    }
    return false;
  }

  private int markCount(NodeReply holder) {
    String mark = holder.mark();
    int count = 0;
    for (int i = 0; mark != null && i < nodes.count(); i++) {
      NodeReply reply = reply(i);
      count += reply != null && is(i, ReplyCode.HELD) && mark.equals(reply.mark()) ? 1 : 0;
    }
    return count;
  }

  /** Whether any node stores another lease. */
  final boolean sawHolder() {
    return maskOf(ReplyCode.HELD) != 0;
  }

  private boolean isQueued() {
    return maskOf(ReplyCode.QUEUED) != 0;
  }

  /** The nodes that granted, whether or not their vote still counts: they may store the key. */
  final long grantedMask() {
    return maskOf(ReplyCode.GRANTED);
  }

  /** Whether the node was asked and has not refused. */
  final boolean mayBeGranted(int node) {
    return (sent & 1L << node) != 0 && !isRefused(node);
  }

  final boolean isRefused(int node) {
    NodeReply reply = reply(node);
    return reply != null && reply.code().definite() && reply.code() != ReplyCode.GRANTED;
  }

  /** When the node can be free. A node that says nothing may be held for a whole lease time. */
  final long freeNanos(int node, long nowNanos) {
    NodeReply reply = reply(node);
    if (reply == null || !reply.code().definite() || reply.code() == ReplyCode.QUEUED) {
      return nowNanos + request.ttlMillis() * 1_000_000L;
    }
    return reply.code() == ReplyCode.HELD
        ? answeredNanos[node] + (reply.remainingMillis() + 1) * 1_000_000L
        : nowNanos;
  }

  /** How many others want the lock, as the nodes say. */
  final int othersQueued() {
    int others = 0;
    for (NodeReply reply : replies()) {
      others = Math.max(others, reply == null ? 0 : reply.othersQueued());
    }
    return others;
  }

  // Patience.

  /** When the nodes that have not replied are slower than they usually are. */
  final long impatientNanos() {
    long patience = 0;
    for (long mask = open(); mask != 0; mask &= mask - 1) {
      patience = Math.max(patience, nodes.knowledge(Long.numberOfTrailingZeros(mask)).patience());
    }
    return sentNanos() + (patience == 0 ? timeoutNanos : Math.min(timeoutNanos, patience));
  }

  final void blameSilentNodes(long nowNanos) {
    boolean timedOut = deadlineNanos() - nowNanos <= 0;
    for (long mask = open(); mask != 0; mask &= mask - 1) {
      nodes.blame(Long.numberOfTrailingZeros(mask), timedOut);
    }
  }
}
