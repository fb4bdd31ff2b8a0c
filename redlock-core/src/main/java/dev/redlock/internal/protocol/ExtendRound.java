package dev.redlock.internal.protocol;

import dev.redlock.LockOptions;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;

/**
 * Asks all nodes to extend the lease, and counts their replies. A round without a quorum for or
 * against the lease has told nothing, and the old deadline stands.
 *
 * <p>Replies count until the old validity ends: the new one begins when the round is sent, and a
 * node that has extended keeps the key for longer. The naive way drops replies that are older than
 * the node timeout, as it does with votes. It fails in this history: the nodes work 20 ms of each
 * 400 ms, and the node timeout is 250 ms. Most replies come after the next pause of the nodes, and
 * their rounds are sent again. More than half of the leases are lost that the nodes could keep.
 *
 * <p>An extension also repairs: a node that has lost the key stores it again (REPAIRED). A
 * quarantined node stores it as well. Its reply counts only after this client has kept it in
 * quarantine for {@link #QUARANTINE_COUNTS_NANOS}. A vote counts for one second at most, so by then
 * no client can still count one that the node has forgotten.
 *
 * <p>The naive way counts each node that stores the key. It fails in this history (N = 3): A holds
 * n2 and n3. B has a vote of n1 and waits. n1 restarts without its keys. A's extension repairs n1
 * and counts it. n2's key expires. B counts n1 and n2. Now two clients own the lock.
 */
final class ExtendRound extends Exchange {
  static final long QUARANTINE_COUNTS_NANOS = 3_000_000_000L;

  final HeldLease lease;
  final LockRequest.Extend request;
  final Validity validity;

  /** Whether it only writes the lease to nodes that lack it, and decides nothing. */
  final boolean early;

  private final Nodes nodes;
  private long waitNanos;
  private ExtendVerdict verdict = ExtendVerdict.UNDECIDED;

  /**
   * Asks those candidates that have a probed connection, quarantined or not. A node that errs may
   * extend all the same (a server that is out of memory does), but stores no new key.
   */
  ExtendRound(
      Nodes nodes,
      HeldLease lease,
      long ttlMillis,
      boolean early,
      long candidates,
      long nowNanos,
      long nowWallMillis) {
    super(nodes);
    this.nodes = nodes;
    this.lease = lease;
    request = lease.grant.extend(ttlMillis);
    this.early = early;
    validity =
        new Validity(
            nowNanos, nowWallMillis, ttlMillis * 1_000_000L, lease.options().drift().toNanos());
    long mask = 0;
    for (long bits = candidates & members.mask(); bits != 0; bits &= bits - 1) {
      int i = Long.numberOfTrailingZeros(bits);
      NodeStatus status = nodes.status(i);
      if (early ? status.works() : status.usable()) {
        mask |= 1L << i;
      }
    }
    boolean mayWin = !early && Long.bitCount(mask) >= members.quorum();
    waitNanos = mayWin ? patienceNanos(lease.options()) : lease.options().nodeTimeout().toNanos();
    if (early) {
      waitNanos = Math.min(waitNanos, nodes.patience(mask)); // Others wait until its turn ends.
    }
    asked(mask, nowNanos);
  }

  long deadlineNanos() {
    return sentNanos() + waitNanos;
  }

  /** How long an extension waits for replies. Late ones count, unlike votes. */
  static long patienceNanos(LockOptions options) {
    long tenth = Math.min(1_000_000_000L, options.leaseTime().toNanos() / 10);
    return Math.max(options.nodeTimeout().toNanos(), tenth);
  }

  /** Another round would tell more: this one waits no longer than a node timeout. */
  void hurry() {
    waitNanos = Math.min(waitNanos, lease.options().nodeTimeout().toNanos());
  }

  ExtendVerdict verdict() {
    return verdict;
  }

  ExtendVerdict onReply(int node, NodeReply reply, long nowNanos, long nowWallMillis) {
    record(node, reply);
    return decide(nowNanos, nowWallMillis, false);
  }

  /**
   * Records and returns the verdict, if there is none yet.
   *
   * @param atTimeout whether no further reply is waited for
   */
  ExtendVerdict decide(long nowNanos, long nowWallMillis, boolean atTimeout) {
    if (verdict == ExtendVerdict.UNDECIDED) {
      verdict = judge(nowNanos, nowWallMillis, atTimeout);
    }
    return verdict;
  }

  private ExtendVerdict judge(long nowNanos, long nowWallMillis, boolean atTimeout) {
    if (early) {
      return open() == 0 || atTimeout ? ExtendVerdict.UNKNOWN : ExtendVerdict.UNDECIDED;
    }
    QuorumTally tally = tally(atTimeout, nowNanos);
    if (tally.isWon()) {
      // An extension after the old deadline would revive what others may have acquired by now.
      boolean inTime = lease.validity().remaining(nowNanos, nowWallMillis) > 0;
      return inTime ? ExtendVerdict.RENEWED : ExtendVerdict.UNKNOWN;
    }
    if (tally.isBlockedBy(tally.held)) {
      return ExtendVerdict.LOST;
    }
    boolean mayBeLost = tally.open > 0 && tally.isBlockedBy(tally.held + tally.open);
    return tally.mayBeWon() || mayBeLost ? ExtendVerdict.UNDECIDED : ExtendVerdict.UNKNOWN;
  }

  private QuorumTally tally(boolean atTimeout, long nowNanos) {
    QuorumTally tally = new QuorumTally(nodes, this);
    for (long bits = members.mask(); bits != 0; bits &= bits - 1) {
      int i = Long.numberOfTrailingZeros(bits);
      NodeReply reply = reply(i);
      if (reply == null) {
        tally.open += isOpen(i) && !atTimeout ? 1 : 0;
      } else if (reply.code() == Code.LOST) {
        tally.held += nodes.votes(i, reply, members) ? 1 : 0;
      } else if (reply.code() == Code.EXTENDED || reply.code() == Code.REPAIRED) {
        tally.granted += counts(i, reply, nowNanos) ? 1 : 0;
      }
    }
    return tally;
  }

  private boolean counts(int node, NodeReply reply, long nowNanos) {
    NodeStatus status = nodes.status(node);
    if (status.connection() != reply.connection() || !members.admittedBy(status.record())) {
      return false;
    }
    return switch (status.state()) {
      case VOTING -> true;
      case QUARANTINED ->
          status.untilNanos() != 0 // Else it is kept out for another reason than its age.
              && nowNanos - status.sinceNanos() >= QUARANTINE_COUNTS_NANOS;
      default -> false;
    };
  }

  /** How many nodes had lost the lease and store it again. */
  int repaired() {
    return Long.bitCount(maskOf(Code.REPAIRED));
  }
}
