package dev.redlock.internal.protocol;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyCode;
import org.jspecify.annotations.Nullable;

/**
 * One question for the lock, with one lease id and one token, put to all nodes at once (or, as a
 * knock, to the door alone), and its votes. Steps 2 to 4 of the Redis specification.
 *
 * <p>The verdict is latched: recomputing it from votes that come later would let a lock that was
 * refused as held turn into one that was not to be had. What a vote is worth is judged when the
 * deciding one is processed, never by a timer alone: its connection must not have been seen to drop
 * since (the node may have restarted without its keys), and the round must not be older than the
 * node timeout (a node that forgets is kept from voting for longer than that, so that no vote it
 * has forgotten can still be counted by anybody).
 */
final class AcquireRound extends Exchange {

  /** What the votes amount to. */
  enum Verdict {
    UNDECIDED,
    WON,
    HELD,
    COLLIDED,
    STALE,
    UNAVAILABLE,
    TOO_SLOW
  }

  final LockRequest.Acquire request;
  final long startNanos;
  final long timeoutNanos;
  final Validity validity;
  final boolean knock;
  final boolean fair;
  final @Nullable HeldLease predecessor;

  private final Nodes nodes;
  private final @Nullable NodeReply[] replies;
  private final long[] answeredNanos;
  private final @Nullable NodeStatus[] notAsked;
  private Verdict verdict = Verdict.UNDECIDED;
  private int door = -1;
  private int lineDoor = -1;
  private long sent;
  private long superseded;
  private long pushed;
  private boolean closed;

  AcquireRound(
      Nodes nodes,
      LockRequest.Acquire request,
      Terms terms,
      boolean knock,
      @Nullable HeldLease predecessor,
      long nowNanos,
      long nowWallMillis) {
    this.nodes = nodes;
    this.request = request;
    this.knock = knock;
    fair = terms.fair();
    this.predecessor = predecessor;
    startNanos = nowNanos;
    timeoutNanos = terms.nodeTimeoutNanos();
    validity = new Validity(nowNanos, nowWallMillis, terms.ttlNanos(), terms.driftNanos());
    replies = new NodeReply[nodes.count()];
    answeredNanos = new long[nodes.count()];
    notAsked = new NodeStatus[nodes.count()];
  }

  /**
   * Which of these nodes are to be asked: those that vote. The others are noted as silent or
   * quarantined with what is known of them now.
   */
  long begin(long candidates) {
    door = knock ? Long.numberOfTrailingZeros(candidates) : -1;
    for (int i = 0; i < replies.length; i++) {
      if ((candidates & 1L << i) == 0) {
        continue;
      }
      NodeStatus status = nodes.status(i);
      if (status.state() == NodeStatus.State.VOTING) {
        sent |= 1L << i;
      } else {
        notAsked[i] = status;
      }
    }
    asked(sent);
    return sent;
  }

  /** The node that a knock is put to. */
  int door() {
    return door;
  }

  /** Fair mode: the node where those who wait stand in line, and which has to agree. */
  void standsAt(int node) {
    lineDoor = node;
  }

  /** Fair mode: the node where this question asked to stand in line, or −1. */
  int lineDoor() {
    return knock && fair ? door : lineDoor;
  }

  /** Whether the node was asked and has not refused. */
  boolean mayBeGranted(int node) {
    NodeReply reply = replies[node];
    return (sent & 1L << node) != 0
        && (reply == null || !reply.code().definite() || reply.code() == ReplyCode.GRANTED);
  }

  /** Fair mode: whether only the door is waited for. */
  boolean waitsForDoor() {
    return lineDoor >= 0
        && isOpen(lineDoor)
        && verdict == Verdict.UNDECIDED
        && Long.bitCount(grantedMask()) >= Quorum.of(replies.length);
  }

  /** Fair mode: the door is silent for longer than usual; the others decide. */
  Verdict passOverDoor(long nowNanos, long nowWallMillis) {
    lineDoor = -1;
    verdict = judge(nowNanos, nowWallMillis, false);
    return verdict;
  }

  /** The nodes that this question was sent to, and that may therefore hold its key. */
  long sentMask() {
    return sent;
  }

  /** A later question of the same attempt was sent to these nodes, behind this one. */
  void supersede(long mask) {
    superseded |= mask;
  }

  /** Whether what this question left on the node is the business of a later one. */
  boolean isSuperseded(int node) {
    return (superseded & 1L << node) != 0;
  }

  /** A node pushed that the key was written or deleted: behind its answer, if it has answered. */
  void onPush(int node) {
    if (replies[node] != null) {
      pushed |= 1L << node;
    }
  }

  /** Whether the node was held by another when it answered, and has pushed since. */
  boolean mayBeFreeSince(int node) {
    NodeReply reply = replies[node];
    return (pushed & 1L << node) != 0 && reply != null && reply.code() == ReplyCode.HELD;
  }

  /** A node refused to take the question at all: there is nothing to roll back on it. */
  void notSent(int node) {
    sent &= ~(1L << node);
  }

  Verdict verdict() {
    return verdict;
  }

  @Nullable NodeReply reply(int node) {
    return replies[node];
  }

  @Nullable NodeReply[] replies() {
    return replies;
  }

  long[] answeredNanos() {
    return answeredNanos;
  }

  @Nullable NodeStatus notAsked(int node) {
    return notAsked[node];
  }

  long deadlineNanos() {
    return startNanos + timeoutNanos;
  }

  /** Whether no further answer is waited for: all have come, or the node timeout has passed. */
  boolean isClosed() {
    return closed || open() == 0;
  }

  void close() {
    closed = true;
  }

  /** Notes a vote, and the verdict if this vote settles it. */
  Verdict onReply(int node, NodeReply reply, long nowNanos, long nowWallMillis) {
    replies[node] = reply;
    answeredNanos[node] = nowNanos;
    if (verdict == Verdict.UNDECIDED) {
      verdict = judge(nowNanos, nowWallMillis, false);
    }
    return verdict;
  }

  /** Notes a vote that came after the verdict, or after it was given up: only reports show it. */
  void onLateReply(int node, NodeReply reply, long nowNanos) {
    replies[node] = reply;
    answeredNanos[node] = nowNanos;
  }

  /** The node timeout has passed, or nobody was there to ask: who has not answered is silent. */
  Verdict onTimeout(long nowNanos, long nowWallMillis) {
    if (verdict == Verdict.UNDECIDED) {
      verdict = judge(nowNanos, nowWallMillis, true);
    }
    return verdict;
  }

  /** The verdict when nothing has been sent: too few nodes may vote, or undecided. */
  Verdict atOnce(long nowNanos, long nowWallMillis) {
    verdict = judge(nowNanos, nowWallMillis, false);
    return verdict;
  }

  /** Decided before anything was sent: there is nothing to wait for, and nothing to roll back. */
  void neverSent() {
    for (int i = 0; i < replies.length; i++) {
      answered(i);
    }
    sent = 0;
    closed = true;
  }

  /** Whether its votes, all that have come and still count, would win if they were judged now. */
  boolean wouldWin(long nowNanos, long nowWallMillis) {
    return judge(nowNanos, nowWallMillis, true) == Verdict.WON;
  }

  /** Nobody has a quorum and somebody is slow: given up before the timeout. */
  void giveUp() {
    verdict = Verdict.COLLIDED;
  }

  private Verdict judge(long nowNanos, long nowWallMillis, boolean final_) {
    boolean tooOld = validity.elapsed(nowNanos, nowWallMillis) > timeoutNanos;
    int n = knock ? 1 : replies.length;
    int granted = 0;
    int held = 0;
    int stale = 0;
    int silent = 0;
    int undecided = 0;
    for (int i = 0; i < replies.length; i++) {
      NodeReply reply = replies[i];
      if (reply == null) {
        if (isOpen(i) && !final_ && !tooOld) {
          undecided++;
        } else if (isOpen(i) || notAsked[i] != null) {
          silent++;
        }
        continue;
      }
      switch (reply.code()) {
        case GRANTED -> {
          if (counts(i, reply)) {
            granted++;
          } else {
            silent++;
          }
        }
        case HELD, QUEUED -> held++;
        case STALE -> stale++;
        default -> silent++;
      }
    }
    int quorum = Quorum.of(n);
    if (queuedAtDoor()) {
      // In fair mode the door's refusal is final: whoever it grants to came earlier.
      return Verdict.HELD;
    }
    if (granted >= quorum && lineDoor >= 0 && isOpen(lineDoor) && !final_ && !tooOld) {
      return Verdict.UNDECIDED; // And so is its silence, until it is passed over.
    }
    if (granted >= quorum) {
      boolean inTime = !tooOld && validity.remaining(nowNanos, nowWallMillis) > 0;
      return inTime ? Verdict.WON : Verdict.TOO_SLOW;
    }
    if (granted + undecided >= quorum) {
      return Verdict.UNDECIDED;
    }
    int blocking = Quorum.blocking(n);
    if (silent >= blocking) {
      return Verdict.UNAVAILABLE;
    }
    if (stale > 0 && held + silent < blocking) {
      return Verdict.STALE;
    }
    if (held == 0) {
      return stale > 0 ? Verdict.STALE : Verdict.UNAVAILABLE;
    }
    return somebodyMayHold(quorum, undecided + silent) ? Verdict.HELD : Verdict.COLLIDED;
  }

  private boolean queuedAtDoor() {
    for (NodeReply reply : replies) {
      if (reply != null && reply.code() == ReplyCode.QUEUED) {
        return true;
      }
    }
    return false;
  }

  private boolean counts(int node, NodeReply reply) {
    NodeStatus status = nodes.status(node);
    return status.connection() == reply.connection() && status.state() == NodeStatus.State.VOTING;
  }

  /** Whether one holder could have a quorum, counting the nodes that have not said. */
  private boolean somebodyMayHold(int quorum, int unknown) {
    for (NodeReply reply : replies) {
      if (reply == null) {
        continue;
      }
      if (reply.code() == ReplyCode.QUEUED) {
        return true;
      }
      if (reply.code() == ReplyCode.HELD && markCount(reply.mark()) + unknown >= quorum) {
        return true;
      }
    }
    return false;
  }

  private int markCount(@Nullable String mark) {
    int count = 0;
    for (NodeReply reply : replies) {
      if (reply != null
          && reply.code() == ReplyCode.HELD
          && mark != null
          && mark.equals(reply.mark())) {
        count++;
      }
    }
    return count;
  }

  /** Whether any node said that somebody else has its key. */
  boolean sawHolder() {
    for (NodeReply reply : replies) {
      if (reply != null && reply.code() == ReplyCode.HELD) {
        return true;
      }
    }
    return false;
  }

  /** A knock, or the only node there is: whether it has said that it stored nothing. */
  boolean isRefusedForSure() {
    NodeReply reply = door >= 0 ? replies[door] : replies.length == 1 ? replies[0] : null;
    return reply != null && reply.code().definite() && reply.code() != ReplyCode.GRANTED;
  }

  /** Whether a holder that could have a quorum is among the answers so far. */
  boolean somebodyMayHold() {
    int unknown = Long.bitCount(open());
    for (NodeStatus status : notAsked) {
      unknown += status == null ? 0 : 1;
    }
    return somebodyMayHold(Quorum.of(replies.length), unknown);
  }

  /** The nodes whose grant counts as stored: they answered GRANTED. */
  long grantedMask() {
    long mask = 0;
    for (int i = 0; i < replies.length; i++) {
      NodeReply reply = replies[i];
      if (reply != null && reply.code() == ReplyCode.GRANTED) {
        mask |= 1L << i;
      }
    }
    return mask;
  }

  /** Nodes other than the door that were free or granted to us: a leftover may be all it has. */
  int freeBeside(int door) {
    int free = 0;
    for (int i = 0; i < replies.length; i++) {
      NodeReply reply = replies[i];
      if (i != door
          && reply != null
          && (reply.code() == ReplyCode.GRANTED || reply.code() == ReplyCode.STALE)) {
        free++;
      }
    }
    return free;
  }

  /**
   * The earliest time at which a quorum can be free, from what the refusals say: the quorum-th
   * smallest remaining time. Nodes that said nothing may be held for a whole lease time.
   */
  long quorumFreeNanos(long nowNanos) {
    int n = knock ? 1 : replies.length;
    long[] free = new long[n];
    int count = 0;
    for (int i = 0; i < replies.length && count < n; i++) {
      NodeReply reply = replies[i];
      if (knock && reply == null) {
        continue;
      }
      if (reply == null || !reply.code().definite()) {
        free[count++] = nowNanos + request.ttlMillis() * 1_000_000L;
      } else if (reply.code() == ReplyCode.HELD) {
        free[count++] = answeredNanos[i] + (reply.remainingMillis() + 1) * 1_000_000L;
      } else if (reply.code() == ReplyCode.QUEUED) {
        free[count++] = nowNanos + request.ttlMillis() * 1_000_000L;
      } else {
        free[count++] = nowNanos;
      }
    }
    // Differences, not instants: the clock's origin is arbitrary.
    for (int i = 0; i < count; i++) {
      free[i] -= nowNanos;
    }
    java.util.Arrays.sort(free, 0, count);
    int quorum = Quorum.of(n);
    return count == 0 ? nowNanos : nowNanos + Math.max(0, free[Math.min(quorum, count) - 1]);
  }

  /** How many other processes stand in line, as the door told. */
  int othersInLine() {
    int others = 0;
    for (NodeReply reply : replies) {
      others = Math.max(others, reply == null ? 0 : reply.othersInLine());
    }
    return others;
  }
}
