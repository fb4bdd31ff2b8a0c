package dev.redlock.internal.protocol;

import dev.redlock.AcquireVerdict;
import dev.redlock.LockOptions;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.Arrays;

/**
 * Asks all nodes for the lock at once, with one lease id and one token. These are steps 2 to 4 of
 * the Redis specification: a quorum of votes that were cast in time wins the lock. A round that
 * keeps nodes back asks them only if the others do not suffice: one of them refuses, or is slower
 * than usual. For safety this is the same: the requests to the others might as well have been lost.
 *
 * <p>The naive way waits for all replies or for the node timeout. Then one hung node delays each
 * acquire by the node timeout, and each collision as well: with N = 3, A has the vote of n1, B has
 * the vote of n2, and n3 hangs. This round decides as soon as the votes that are still to come
 * cannot change the verdict. It also gives up early where votes can come but are not expected:
 *
 * <ul>
 *   <li>The votes are split. No lease can have a quorum, and the other nodes are slower than usual.
 *   <li>Waiting cannot help. A node stores another lease, and each node that has not replied did
 *       not reply to an earlier request within the node timeout either.
 * </ul>
 *
 * <p>A process that is not at its turn may need the vote of the home node, because only that node
 * knows the queue. In fair mode and after hand-offs it always needs that vote. Otherwise it needs
 * the vote if another vote says that others want the lock. If only that vote is missing, the others
 * decide as soon as the home node is slower than usual, in fair mode after three quarters of the
 * node timeout: at the timeout itself the votes would be too old for a timer that fires late.
 *
 * <p>A vote counts for a limited time, and the round checks that when it judges, not when the vote
 * comes. First, its connection must be the one that the node has now: a node that reconnects may
 * have restarted without its keys. Second, the round must not be older than the node timeout: a
 * node that restarted is kept from voting for longer than that, so no client can still count a vote
 * that a node has forgotten.
 */
final class AcquireRound extends Exchange {
  final LockRequest.Acquire request;
  final long timeoutNanos;
  final Validity validity;

  /** Whether the first place in the queue is this process's: it was woken, or admitted. */
  final boolean atTurn;

  final Recipients recipients;

  /** Whether the round before was refused for its token alone, and this one followed at once. */
  boolean followsStale;

  private final Nodes nodes;
  private final boolean fair;
  private final long[] answeredNanos;

  /** The home node, or −1. The queue of another node costs no more than the vote of that node. */
  private final int home;

  /** Whether the vote of the home node may have to come first. */
  private boolean heedsHome;

  /** Whether the home node has to agree even if no vote reports others that want the lock. */
  boolean needsHome;

  private AcquireVerdict verdict = AcquireVerdict.UNDECIDED;
  private long overdueNanos;

  /** Whether the verdict counts each node that had not replied as silent. */
  private boolean timedOut;

  private long invalidated; // Nodes that sent an invalidation of the key after their reply.

  /**
   * Asks all nodes that vote. The others are recorded as silent or quarantined, with the state that
   * they have now.
   */
  AcquireRound(
      Nodes nodes,
      LockRequest.Acquire request,
      LockOptions options,
      boolean atTurn,
      int home,
      long nowNanos,
      long nowWallMillis) {
    super(nodes);
    this.nodes = nodes;
    this.request = request;
    this.atTurn = atTurn;
    this.home = home;
    fair = options.fair();
    heedsHome = home >= 0 && !atTurn;
    needsHome = fair;
    timeoutNanos = options.nodeTimeout().toNanos();
    validity =
        new Validity(
            nowNanos, nowWallMillis, options.leaseTime().toNanos(), options.drift().toNanos());
    answeredNanos = new long[nodes.count()];
    recipients = new Recipients(nodes, members);
    asked(recipients.mask(), nowNanos);
  }

  /** Asks these nodes only if the others do not suffice; called before it is sent. */
  void keepBack(long mask) {
    for (long bits = recipients.keepBack(mask); bits != 0; bits &= bits - 1) {
      answered(Long.numberOfTrailingZeros(bits));
    }
  }

  /** The nodes to be asked now, because those that were asked do not suffice; or 0. */
  long askRest(long nowNanos) {
    if (recipients.keptBack() == 0 || deadlineNanos() - nowNanos <= 0) {
      return 0; // Their votes would come too late.
    }
    int granted = tally(false).granted;
    boolean mayWin = granted + Long.bitCount(open()) >= members.quorum();
    if (granted >= members.quorum() || (mayWin && impatientNanos() - nowNanos > 0)) {
      return 0; // Only the vote of the home node is missing; or those that are open come in time.
    }
    long rest = recipients.askRest(nowNanos);
    askedToo(rest);
    return rest;
  }

  @Override
  public long sentNanos(int node) {
    return recipients.isAskedLater(node) ? recipients.askedLaterNanos() : sentNanos();
  }

  long deadlineNanos() {
    return sentNanos() + timeoutNanos;
  }

  AcquireVerdict verdict() {
    return verdict;
  }

  /** How long after the node timeout it was decided: this client was paused or overloaded. */
  long overdueNanos() {
    return overdueNanos;
  }

  /** The verdict came before anything was sent: there are no replies, and nothing to roll back. */
  void neverSent() {
    noneAsked();
    recipients.none();
  }

  // Votes.

  /** Records a vote, and the verdict if this vote decides. */
  AcquireVerdict onReply(int node, NodeReply reply, long nowNanos, long nowWallMillis) {
    record(node, reply, nowNanos);
    return decide(nowNanos, nowWallMillis, false);
  }

  /** Records a vote. If it comes too late to decide, only reports show it. */
  void record(int node, NodeReply reply, long nowNanos) {
    record(node, reply);
    answeredNanos[node] = nowNanos;
  }

  /**
   * Records and returns the verdict, if there is none yet.
   *
   * @param atTimeout whether each node that has not replied counts as silent
   */
  AcquireVerdict decide(long nowNanos, long nowWallMillis, boolean atTimeout) {
    if (verdict == AcquireVerdict.UNDECIDED
        && latch(judge(nowNanos, nowWallMillis, atTimeout)) != AcquireVerdict.UNDECIDED) {
      timedOut = atTimeout;
      overdueNanos = Math.max(0, validity.elapsed(nowNanos, nowWallMillis) - timeoutNanos);
    }
    return verdict;
  }

  AcquireVerdict latch(AcquireVerdict decided) {
    verdict = decided;
    return decided;
  }

  private AcquireVerdict judge(long nowNanos, long nowWallMillis, boolean atTimeout) {
    boolean tooOld = validity.elapsed(nowNanos, nowWallMillis) > timeoutNanos;
    // A round that is too old still hears the replies that have arrived: its report needs them.
    QuorumTally tally = tally(atTimeout);
    if (home >= 0 && is(home, Code.QUEUED)) {
      // It is the turn of another process. Its votes will refuse this one sooner or later.
      return AcquireVerdict.HELD;
    }
    if (tally.isWon()) {
      if (!atTimeout && !tooOld && awaitsHome()) {
        return AcquireVerdict.UNDECIDED;
      }
      boolean inTime = !tooOld && validity.remaining(nowNanos, nowWallMillis) > 0;
      return inTime ? AcquireVerdict.ACQUIRED : AcquireVerdict.TOO_SLOW;
    }
    return tally.mayBeWon() ? AcquireVerdict.UNDECIDED : tally.refusal();
  }

  private QuorumTally tally(boolean atTimeout) {
    QuorumTally tally = new QuorumTally(nodes, this);
    for (long bits = members.mask(); bits != 0; bits &= bits - 1) {
      int i = Long.numberOfTrailingZeros(bits);
      NodeReply reply = reply(i);
      boolean mayVote = isOpen(i) || recipients.isKeptBack(i);
      if (reply != null) {
        tally.count(i, reply);
      } else if (mayVote && !atTimeout) {
        tally.open++;
      } else if (mayVote || recipients.notAsked(i) != null) {
        tally.silent++;
      }
    }
    return tally;
  }

  /** Whether its votes would win if they were judged now. */
  boolean wouldWin(long nowNanos, long nowWallMillis) {
    return judge(nowNanos, nowWallMillis, true) == AcquireVerdict.ACQUIRED;
  }

  /**
   * The token of the second round was refused like that of the first. If enough free nodes for a
   * quorum would accept a later token, the clocks are not the cause: grants to others raised the
   * fences between the two rounds. The verdict is then a collision.
   */
  void overtaken(int acceptLater) {
    QuorumTally tally = tally(timedOut);
    if (acceptLater + tally.held + tally.open >= members.quorum()) {
      latch(AcquireVerdict.COLLIDED);
    }
  }

  // Patience.

  /** Whether a quorum is not enough, because the vote of the home node must come first. */
  private boolean awaitsHome() {
    return heedsHome && isOpen(home) && (needsHome || othersQueued() > 0);
  }

  /** Whether only the vote of the home node is missing. */
  private boolean lacksHomeOnly() {
    return awaitsHome()
        && verdict == AcquireVerdict.UNDECIDED
        && Long.bitCount(grantedMask()) >= members.quorum();
  }

  /** When {@link #onTimer} is to be called, whether or not replies come. */
  long wakeNanos() {
    if (lacksHomeOnly()) {
      long limit = HomeNode.fairPatience(timeoutNanos);
      return sentNanos() + (fair ? limit : Math.min(limit, nodes.patience(open())));
    }
    if (recipients.keptBack() != 0) {
      return impatientNanos();
    }
    return isSplit() || (sawHolder() && isOpenAtSilentNodesOnly())
        ? impatientNanos()
        : deadlineNanos() + 1;
  }

  /** Gives up where waiting longer is useless; returns the verdict. */
  AcquireVerdict onTimer(long nowNanos, long nowWallMillis) {
    boolean impatient = impatientNanos() - nowNanos <= 0;
    if (mayAskRest(nowNanos)) {
      nodes.blame(impatient ? open() : 0, false); // The others are asked now.
      return verdict;
    }
    if (impatient && isSplit()) {
      return latch(AcquireVerdict.COLLIDED);
    }
    if (wakeNanos() - nowNanos > 0) {
      return verdict;
    }
    blameOpen(deadlineNanos() - nowNanos <= 0);
    if (lacksHomeOnly()) {
      heedsHome = false;
      return decide(nowNanos, nowWallMillis, false);
    }
    boolean inVain = impatient && sawHolder() && isOpenAtSilentNodesOnly();
    return inVain || deadlineNanos() - nowNanos <= 0
        ? decide(nowNanos, nowWallMillis, true)
        : verdict;
  }

  /** A node that was asked later has had less time. In fair mode the home node has had enough. */
  private void blameOpen(boolean overdue) {
    boolean failed = overdue || (fair && lacksHomeOnly());
    nodes.blame(failed ? open() & ~recipients.askedLater() : open(), failed);
  }

  /** Whether nodes were kept back that may still vote in time, and would matter. */
  private boolean mayAskRest(long nowNanos) {
    return recipients.keptBack() != 0 && deadlineNanos() - nowNanos > 0 && !lacksHomeOnly();
  }

  /** Whether no lease can have a quorum, this one included. */
  private boolean isSplit() {
    return sawHolder() && !isHeldBySome() && !lacksHomeOnly();
  }

  private boolean isOpenAtSilentNodesOnly() {
    return open() != 0 && nodes.areSilent(open());
  }

  private boolean isHeldBySome() {
    int unknown = Long.bitCount(open()) + recipients.outside();
    return new QuorumTally(nodes, this).isHeldBySome(unknown);
  }

  /** When the nodes that have not replied are slower than they usually are. */
  long impatientNanos() {
    long patience = open() == 0 ? timeoutNanos : nodes.patience(open());
    return sentNanos() + Math.min(timeoutNanos, patience);
  }

  // What the replies say.

  long answeredNanos(int node) {
    return answeredNanos[node];
  }

  /** Whether any node stores another lease. */
  boolean sawHolder() {
    return maskOf(Code.HELD) != 0;
  }

  /** The nodes that granted, whether or not their vote still counts: they may store the key. */
  long grantedMask() {
    return maskOf(Code.GRANTED);
  }

  /** Whether the node was asked and has not refused. */
  boolean mayBeGranted(int node) {
    return (recipients.mask() & 1L << node) != 0 && !isRefused(node);
  }

  /** Whether each node has refused: none of them stores the lease. */
  boolean isRefused() {
    return members.indexes().allMatch(this::isRefused);
  }

  boolean isRefused(int node) {
    NodeReply reply = reply(node);
    return reply != null && reply.code().definite() && reply.code() != Code.GRANTED;
  }

  /**
   * Whether the refusal does not show that another client has the lock. Two clients have a vote
   * each, and the third node is down. Or a vote that was granted lost its worth: its node has a new
   * connection, or is asked for its record again, because the set changes. Or a node was not asked
   * because it is quarantined, for less than the node timeout.
   */
  boolean isInconclusive() {
    return switch (verdict) {
      case COLLIDED -> true;
      case HELD -> grantedMask() != 0 && !new QuorumTally(nodes, this).isHeldBySome(0);
      case UNAVAILABLE ->
          Long.bitCount(grantedMask() | (timedOut ? 0 : open() | recipients.keptBack()))
                  + recipients.quarantinedSince(sentNanos() - timeoutNanos)
              >= members.quorum();
      default -> false;
    };
  }

  /** How many nodes other than this one were free, or granted. */
  int freeBeside(int node) {
    long free = maskOf(Code.GRANTED) | maskOf(Code.STALE);
    return Long.bitCount(free & ~(1L << node));
  }

  /** A node sent an invalidation of the key. It matters if the node had already replied. */
  void onInvalidation(int node) {
    if (reply(node) != null) {
      invalidated |= 1L << node;
    }
  }

  /** Whether the node stored another lease when it replied, and that has changed since. */
  boolean mayBeFreeSince(int node) {
    return (invalidated & 1L << node) != 0 && is(node, Code.HELD);
  }

  /** When the node can be free. A node that says nothing may be held for a whole lease time. */
  long freeNanos(int node, long nowNanos) {
    NodeReply reply = reply(node);
    if (reply == null || !reply.code().definite() || reply.code() == Code.QUEUED) {
      return nowNanos + request.ttlMillis() * 1_000_000L;
    }
    return reply.code() == Code.HELD
        ? answeredNanos[node] + (reply.remainingMillis() + 1) * 1_000_000L
        : nowNanos;
  }

  /**
   * The earliest time at which a quorum can be free, as the refusals say: the quorum-th smallest of
   * the times of the nodes.
   */
  long quorumFreeNanos(long nowNanos) {
    // Differences: the clock's origin is arbitrary.
    long[] left = members.indexes().mapToLong(i -> freeNanos(i, nowNanos) - nowNanos).toArray();
    Arrays.sort(left);
    return nowNanos + Math.max(0, left[Math.min(members.quorum(), left.length) - 1]);
  }
}
