package dev.redlock.internal.protocol;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyCode;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Asks all nodes for the lock at once. These are steps 2 to 4 of the Redis specification: a quorum
 * of votes that were cast in time wins the lock.
 *
 * <p>The naive way waits for all replies or for the node timeout. Then one hung node delays each
 * acquire by the node timeout, and each collision as well: with N = 3, A has the vote of n1, B has
 * the vote of n2, and n3 hangs. This round decides as soon as the votes that are still to come
 * cannot change the verdict. It also gives up early where votes can come but are not expected:
 *
 * <ul>
 *   <li>The votes are split. No lease can have a quorum, and the other nodes are slower than usual.
 *   <li>Waiting is in vain. A node stores another lease, and all nodes that have not replied let a
 *       whole node timeout pass before.
 * </ul>
 *
 * <p>A process that is not at its turn may need the home node to agree, because the others do not
 * know the queue: always in fair mode and after many hand-offs, else if a vote says that others
 * want the lock. If only that vote is missing at the node timeout, the others decide.
 */
final class AcquireRound extends Votes {

  /** The lease whose keys this round takes over, in a hand-off; else null. */
  final @Nullable HeldLease predecessor;

  /** Whether the first place in the queue is this process's: it was woken, or admitted. */
  final boolean atTurn;

  /** The node that keeps the queue and may have to agree; −1 for none. */
  private int queueHome;

  /** Whether the home node has to agree although no vote speaks of others. */
  private boolean needsHome;

  private long invalidated;

  AcquireRound(
      Nodes nodes,
      LockRequest.Acquire request,
      LockConfig config,
      @Nullable HeldLease predecessor,
      boolean atTurn,
      int queueHome,
      long nowNanos,
      long nowWallMillis) {
    super(nodes, request, config, nowNanos, nowWallMillis);
    this.predecessor = predecessor;
    this.atTurn = atTurn;
    this.queueHome = queueHome;
    needsHome = fair;
  }

  /** The home node has to agree, whatever the votes say. */
  void needHome() {
    needsHome = true;
  }

  @Override
  boolean needsMore() {
    return queueHome >= 0 && isOpen(queueHome) && (needsHome || othersQueued() > 0);
  }

  private boolean waitsForHome() {
    return needsMore()
        && verdict() == AcquireVerdict.UNDECIDED
        && Long.bitCount(grantedMask()) >= nodes.quorum();
  }

  /** When {@link #onTimer} is to be called, whether or not replies come. */
  long wakeNanos() {
    if (waitsForHome()) {
      return fair ? deadlineNanos() : impatientNanos();
    }
    return sawHolder() && (!isHeldBySome() || isOpenAtSilentNodesOnly())
        ? impatientNanos()
        : deadlineNanos() + 1;
  }

  /** Gives up where waiting longer is useless; returns the verdict. */
  AcquireVerdict onTimer(long nowNanos, long nowWallMillis) {
    boolean impatient = impatientNanos() - nowNanos <= 0;
    if (impatient && sawHolder() && !isHeldBySome()) {
      return latch(AcquireVerdict.COLLIDED);
    }
    if (wakeNanos() - nowNanos > 0) {
      return verdict();
    }
    blameSilentNodes(nowNanos);
    if (waitsForHome()) {
      queueHome = -1;
      return decide(nowNanos, nowWallMillis, false);
    }
    boolean inVain = impatient && sawHolder() && isOpenAtSilentNodesOnly();
    return inVain || deadlineNanos() - nowNanos <= 0
        ? onTimeout(nowNanos, nowWallMillis)
        : verdict();
  }

  private boolean isOpenAtSilentNodesOnly() {
    for (long mask = open(); mask != 0; mask &= mask - 1) {
      if (!nodes.knowledge(Long.numberOfTrailingZeros(mask)).silent()) {
        return false;
      }
    }
    return open() != 0;
  }

  private boolean isHeldBySome() {
    int unknown = Long.bitCount(open());
    for (int i = 0; i < nodes.count(); i++) {
      NodeStatus status = notAsked(i);
      unknown += status == null ? 0 : 1;
    }
    return isHeldBySome(nodes.quorum(), unknown);
  }

  /** Whether its votes would win if they were judged now. */
  boolean wouldWin(long nowNanos, long nowWallMillis) {
    return judge(nowNanos, nowWallMillis, true) == AcquireVerdict.WON;
  }

  /** A node sent an invalidation of the key. It matters if the node had already replied. */
  void onInvalidation(int node) {
    if (reply(node) != null) {
      invalidated |= 1L << node;
    }
  }

  /** Whether the node stored another lease when it replied, and that has changed since. */
  boolean mayBeFreeSince(int node) {
    return (invalidated & 1L << node) != 0 && is(node, ReplyCode.HELD);
  }

  /** How many nodes other than this one were free, or granted. */
  int freeBeside(int node) {
    int free = 0;
    for (int i = 0; i < nodes.count(); i++) {
      free += i != node && (is(i, ReplyCode.GRANTED) || is(i, ReplyCode.STALE)) ? 1 : 0;
    }
    return free;
  }

  /** Whether no node has stored anything: only a single node that refuses is that certain. */
  boolean isRefusedForSure() {
    return nodes.count() == 1 && isRefused(0);
  }

  /**
   * The earliest time at which a quorum can be free, as the refusals say: the quorum-th smallest of
   * the times of the nodes.
   */
  long quorumFreeNanos(long nowNanos) {
    long[] left = new long[nodes.count()];
    for (int i = 0; i < left.length; i++) {
      left[i] = freeNanos(i, nowNanos) - nowNanos; // Differences: the clock's origin is arbitrary.
    }
    Arrays.sort(left);
    return nowNanos + Math.max(0, left[nodes.quorum() - 1]);
  }
}
