package dev.redlock.internal.protocol;

import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a {@link Grant} alive on the nodes: extends it each third of the lease time, earlier on
 * nodes that lack it, and checks it when a node reports a change of the lock key. It stays with the
 * grant when that is handed off locally.
 *
 * <p>Why an early extension: a lease on no more than a quorum is one lost key away from a second
 * owner. The naive way extends the lease on all nodes as soon as one lacks it. It fails when a node
 * reconnects: n leases send n × N requests at once. An early extension goes to the nodes that lack
 * the grant, alone, and comes after all others of the client. It never moves the deadline, because
 * too few nodes take part in it. That a node lacks the grant casts no doubt on the votes of the
 * others, so the grant may be handed off locally meanwhile.
 *
 * <p>Why a check: a node sends an invalidation when the key is deleted, written or has expired. The
 * naive way takes that for a loss. But invalidations are lost, late, or follow this client's own
 * commands. A check is an extension round, and its votes decide. The naive check, one for each
 * invalidation, fails in this history: an operator's break reaches the home node alone. A waiter is
 * admitted there, loses its round and rolls back. The node tells the holder, which checks: once for
 * each attempt of any waiter, for as long as the lease lives. So checks that find the key lost on a
 * node follow each other at growing intervals.
 */
final class LeaseExtender {
  private static final long CHECK_INTERVAL_NANOS = 20_000_000;

  /** A section that is shorter costs no early extension, unless a node reconnects. */
  private static final long EARLY_NANOS = 20_000_000;

  /** An early extension waits behind the others of the client: none of them is late for it. */
  private static final long AFTER_ALL_NANOS = 3_600_000_000_000L;

  private static final long MIN_RETRY_NANOS = 5_000_000;

  /** Of the check interval, while other leases come and go on a node: up to 640 ms. */
  private static final int MAX_DOUBLINGS = 5;

  private final Grant grant;
  private final LockOptions options;
  private final Nodes nodes;
  private final Randomness random;
  final ExtendSlot slot;
  private final List<Effect> effects;
  private final List<Effect.Ack> acks = new ArrayList<>(0);

  /** The lease that has the grant now. */
  private HeldLease lease;

  /** The extension under way: of all nodes, or an early one. */
  private @Nullable ExtendRound round;

  /** Whether an extension is wanted, and has to wait for other leases. */
  private boolean queued;

  /** Whether an extension of all nodes is wanted now; else the queued one is early. */
  private boolean due;

  /** Nodes that lack the grant, as far as is known, and when they get an early extension. */
  private long lacking;

  private long earlyNanos;
  private long nextExtendNanos;
  private long lastSentNanos;
  private boolean checkDue;
  private boolean stopped;

  /** Nodes whose newest reply to an extension says that another lease has the key. */
  private long lostOn;

  /** How many such replies came since no node was in {@link #lostOn}. */
  private int checksInVain;

  LeaseExtender(HeldLease lease, Nodes nodes, Randomness random, List<Effect> effects) {
    this.lease = lease;
    this.nodes = nodes;
    this.random = random;
    this.effects = effects;
    grant = lease.grant;
    options = grant.options;
    slot =
        new ExtendSlot(
            grant.keys, options.nodeTimeout().toNanos(), ExtendRound.patienceNanos(options));
    lastSentNanos = grant.votes.sentNanos();
    nextExtendNanos = lastSentNanos + random.atMost(options.leaseTime().toNanos() / 3);
  }

  /** The lease begins; some nodes may lack it. */
  void begin(long nowNanos) {
    AcquireRound votes = grant.votes;
    for (long bits = nodes.members().mask(); bits != 0; bits &= bits - 1) {
      int i = Long.numberOfTrailingZeros(bits);
      boolean lacks = !votes.isOpen(i) && (lacksGrant(votes.reply(i)) || isVoteOver(i));
      // A node may have been freed after its refusal; its invalidation came before the lease.
      if (lacks || votes.mayBeFreeSince(i)) {
        extendEarly(i, nowNanos + EARLY_NANOS);
      }
    }
  }

  /** The successor takes the grant over. */
  void resume(HeldLease successor) {
    lease = successor;
  }

  /** No code can release the lease any more, so it is no longer extended and expires. */
  void stop() {
    stopped = true;
  }

  private boolean extendsItself() {
    return options.autoExtend() && !stopped;
  }

  /** Whether the grant is extended, and nothing has cast doubt on the votes that won it. */
  boolean isWithoutDoubt() {
    return extendsItself() && !isExtending() && !checkDue && lostOn == 0;
  }

  /** Whether an extension of all nodes is under way. */
  private boolean isExtending() {
    return round != null && !round.early;
  }

  // Early extension.

  /**
   * Whether the node was not asked, failed, or refused only the token. Roll-backs of other clients
   * raise the fence. It can then lie above the token, by as much as the estimates of the node's
   * clock differ. No other lease is stored there.
   */
  private static boolean lacksGrant(@Nullable NodeReply reply) {
    if (reply == null) {
      return true;
    }
    NodeError error = reply.error();
    if (error != null && error.kind() == NodeError.Kind.NO_PERMISSION) {
      return false; // A permission that is missing now is missing a moment later.
    }
    return reply.code() == Code.FAILED || reply.code() == Code.STALE;
  }

  /** Whether the node has another connection than its vote, or did not vote. */
  private boolean isVoteOver(int node) {
    NodeReply vote = grant.votes.reply(node);
    return vote == null || vote.connection() != nodes.status(node).connection();
  }

  /** A vote that came after the winning one; it never moves the deadline. */
  void onLateVote(int node, NodeReply reply, long nowNanos) {
    if (lacksGrant(reply)) {
      extendEarly(node, nowNanos + EARLY_NANOS);
    }
  }

  /**
   * The node has a new connection, and may have lost its keys; or it executes again. After a pause
   * many such events come at once.
   */
  void onWorks(int node, long nowNanos) {
    if (round != null && !round.isOpen(node)) {
      round.hurry();
    }
    extendEarly(node, nowNanos);
  }

  /** The node lacks the grant, and gets it at this time. */
  private void extendEarly(int node, long atNanos) {
    if (lacking == 0 || atNanos - earlyNanos < 0) {
      earlyNanos = atNanos;
    }
    lacking |= 1L << node;
  }

  private boolean isEarlyWanted() {
    return round == null && !due && lacking != 0;
  }

  /** The replies to an early extension decide nothing. */
  private void endEarly(long nowNanos) {
    round = null;
    slot.tellOthers(nodes.extensions().giveUp(slot, nowNanos), effects);
  }

  // Extension.

  /** Extends soon, or shares the round under way; the ack is settled by its verdict. */
  void extendNow(Effect.Ack ack, long nowNanos, long nowWallMillis) {
    acks.add(ack);
    if (!isExtending()) {
      due = true;
      wantRound(nowNanos, nowWallMillis);
    }
  }

  /** Begins a round if this lease is among the first of this client; else it waits for its turn. */
  private void wantRound(long nowNanos, long nowWallMillis) {
    boolean asked = due && (checkDue || !acks.isEmpty());
    long left = deadlineNanos() - nowNanos;
    if (due && !asked && !isUseful(ttlMillis(nowNanos), nowNanos)) {
      nextExtendNanos = deadlineNanos();
      cease(nowNanos);
      return;
    }
    // A caller, or a doubt, waits no longer than a lease that expires within a node timeout. But
    // callers that ask again and again leave time to others.
    long soon = options.nodeTimeout().toNanos();
    soon = Math.max(soon, lastSentNanos + options.leaseTime().toNanos() / 10 - nowNanos);
    long urgent = nowNanos + (asked ? Math.min(left, soon) : left);
    urgent += due ? 0 : AFTER_ALL_NANOS;
    slot.tellOthers(nodes.extensions().ask(slot, urgent, deadlineNanos(), nowNanos), effects);
    queued = !slot.isTaken();
    if (!queued) {
      startRound(nowNanos, nowWallMillis);
      return;
    }
    round = null; // An early one that was paused for so long that it has lost its turn.
    // It is told of its turn. To ask again helps if the thread that has to tell it is paused.
    long again = nowNanos + Math.max(options.leaseTime().toNanos() / 10, left / 2);
    nextExtendNanos = due ? again : nextExtendNanos;
    earlyNanos = again;
  }

  /** Another round has ended, and this lease is the next. */
  void onAdmitted(long nowNanos, long nowWallMillis) {
    if (queued) {
      wantRound(nowNanos, nowWallMillis);
    }
  }

  /** No round is wanted any more; one that is under way decides nothing. */
  void cease(long nowNanos) {
    due = false;
    if (queued || round != null) {
      queued = false;
      slot.tellOthers(nodes.extensions().giveUp(slot, nowNanos), effects);
    }
  }

  /** The cap shortens the last extension, so that validity ends there. */
  private long ttlMillis(long nowNanos) {
    long toCapMillis = (lease.capNanos - nowNanos + options.drift().toNanos()) / 1_000_000L;
    return Math.min(options.leaseTime().toMillis(), toCapMillis);
  }

  private void startRound(long nowNanos, long nowWallMillis) {
    long ttlMillis = ttlMillis(nowNanos);
    if (!isUseful(ttlMillis, nowNanos)) {
      // The cap is reached, or this is only a check: the nodes keep what is left of the lease time.
      // A caller that asked learns whether they confirm it, because the lease has not ended.
      ttlMillis =
          Math.max(1, (deadlineNanos() + options.drift().toNanos() - nowNanos) / 1_000_000L);
    }
    long mask = due ? nodes.members().mask() : lacking;
    ExtendRound r = new ExtendRound(nodes, lease, ttlMillis, !due, mask, nowNanos, nowWallMillis);
    if (due) {
      checkDue = false;
      lastSentNanos = nowNanos;
    }
    due = false;
    lacking = 0;
    round = r;
    if (r.open() != 0) {
      grant.noteSent(r.open());
      effects.add(new Effect.Send(r, r.request, r.open()));
    } else if (r.early) {
      endEarly(nowNanos);
    }
  }

  /** Whether an extension is wanted, and moves the deadline. */
  private boolean isUseful(long ttlMillis, long nowNanos) {
    return (extendsItself() || !acks.isEmpty())
        && nowNanos + ttlMillis * 1_000_000L - options.drift().toNanos() - deadlineNanos() > 0;
  }

  private long deadlineNanos() {
    return grant.validity().deadlineNanos();
  }

  /** Returns how the lease ends, or null if it does not. */
  @Nullable LeaseEnd onReply(
      ExtendRound r, int node, NodeReply reply, long nowNanos, long nowWallMillis) {
    if (reply.code() == Code.LOST) {
      lostOn |= 1L << node;
      checksInVain++;
      if (r.early && Long.bitCount(lostOn) >= grant.votes.members.blocking()) {
        checkDue = true; // Perhaps the lease is lost: reports of it were not heard, see below.
        checkAfter(longInterval());
      }
    } else if (reply.code().definite()) {
      lostOn &= ~(1L << node);
      checksInVain = lostOn == 0 ? 0 : checksInVain;
    }
    return settle(r, r.onReply(node, reply, nowNanos, nowWallMillis), nowNanos, nowWallMillis);
  }

  private @Nullable LeaseEnd settle(
      ExtendRound r, ExtendVerdict verdict, long nowNanos, long nowWallMillis) {
    if (round != r || verdict == ExtendVerdict.UNDECIDED) {
      return null;
    }
    if (r.early) {
      endEarly(nowNanos);
      return null;
    }
    round = null;
    slot.tellOthers(
        nodes.extensions().ended(slot, verdict, r.sentNanos(), nodes, nowNanos), effects);
    switch (verdict) {
      case RENEWED -> {
        boolean moves = r.validity.deadlineNanos() - deadlineNanos() > 0;
        grant.renew(r.validity);
        nextExtendNanos = r.sentNanos() + random.atMost(options.leaseTime().toNanos() / 3);
        // A caller may have come during a check, which moves no deadline: extends by 1 ms or more.
        boolean again = !moves && !acks.isEmpty() && isUseful(ttlMillis(nowNanos) - 1, nowNanos);
        if (!again) {
          settleAcks(Effect.Result.DONE);
        }
        effects.add(new Effect.Extended(lease, r.repaired()));
        if (again) {
          due = true;
          wantRound(nowNanos, nowWallMillis);
          return null;
        }
      }
      case LOST -> {
        return LeaseEnd.LOST;
      }
      default -> retry(r, nowNanos, nowWallMillis);
    }
    // An invalidation came behind a reply that this round has counted, or could not use.
    if (checkDue) {
      checkAfter(longInterval());
    }
    return null;
  }

  private void retry(ExtendRound r, long nowNanos, long nowWallMillis) {
    long left = grant.validity().remaining(nowNanos, nowWallMillis);
    long soon = random.atMost(Math.min(options.leaseTime().toNanos() / 10, left / 2));
    nextExtendNanos = nowNanos + Math.max(MIN_RETRY_NANOS, soon);
    settleAcks(new Effect.Result(Reports.ofReplies(nodes, grant.keys, r, nowNanos), null));
    effects.add(new Effect.ExtendFailed(lease, left));
  }

  void settleAcks(Effect.Result result) {
    for (Effect.Ack ack : acks) {
      effects.add(new Effect.Settle(ack, result));
    }
    acks.clear();
  }

  // Checks.

  /** A node reports that the key was written or deleted, or has expired. */
  void onInvalidation(int node) {
    ExtendRound e = round;
    long asked = e == null ? 0 : e.open();
    // An early one may be followed by a local hand-off before its reply.
    long own = grant.awaited() | (isExtending() ? asked : 0);
    if ((own & 1L << node) != 0) {
      return; // The node executes the command after the change, and its reply reports the key.
    }
    if (((asked | lacking) & 1L << node) != 0 && isVoteOver(node)) {
      return; // Each lease hears this of a node that has restarted. Its vote counts no more.
    }
    checkDue = true;
    if (e != null) {
      e.hurry();
    }
    // Other leases come and go on a node that lost the key. Each check would wake their waiters.
    boolean lost = (lostOn & 1L << node) != 0;
    checkAfter(lost ? longInterval() : CHECK_INTERVAL_NANOS);
  }

  private long longInterval() {
    return CHECK_INTERVAL_NANOS << Math.min(MAX_DOUBLINGS, checksInVain);
  }

  private void checkAfter(long intervalNanos) {
    long at = lastSentNanos + intervalNanos;
    if (at - nextExtendNanos < 0) {
      nextExtendNanos = at;
    }
  }

  // Time.

  /** Returns how the lease ends, or null if it does not. */
  @Nullable LeaseEnd onTimer(long nowNanos, long nowWallMillis) {
    AcquireRound votes = grant.votes;
    if (grant.awaited() != 0 && votes.deadlineNanos() - nowNanos <= 0) {
      nodes.blame(votes.open() & ~votes.recipients.askedLater(), true);
      grant.close();
    }
    ExtendRound r = round;
    if (r != null && r.deadlineNanos() - nowNanos < 0) {
      LeaseEnd over = settle(r, r.decide(nowNanos, nowWallMillis, true), nowNanos, nowWallMillis);
      if (over != null) {
        return over;
      }
    }
    if (isExtensionWanted() && nextExtendNanos - nowNanos <= 0) {
      due = true;
      wantRound(nowNanos, nowWallMillis);
    } else if (isEarlyWanted() && earlyNanos - nowNanos <= 0) {
      wantRound(nowNanos, nowWallMillis);
    }
    return null;
  }

  private boolean isExtensionWanted() {
    return !isExtending() && (extendsItself() || checkDue || due);
  }

  void deadlines(NextWake wake) {
    if (grant.awaited() != 0) {
      wake.at(grant.votes.deadlineNanos());
    }
    ExtendRound r = round;
    if (r != null) {
      wake.at(r.deadlineNanos() + 1);
    }
    if (isExtensionWanted()) {
      wake.at(nextExtendNanos);
    }
    if (isEarlyWanted()) {
      wake.at(earlyNanos);
    }
  }
}
