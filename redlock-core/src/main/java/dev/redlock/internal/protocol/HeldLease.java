package dev.redlock.internal.protocol;

import dev.redlock.LeaseEnd;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A lease from its grant to its end: extension, healing, cap, expiry.
 *
 * <p>What the nodes store is a <em>grant</em>: a lease id and a token. A lease that was handed on
 * at once shares the grant of its predecessor, its validity included, and has a token of its own
 * from those that belong to the grant ({@link TokenWindow#PER_GRANT}).
 *
 * <p>Confined to the serial queue of its {@link LockMachine}, but for the three volatile fields:
 * they are written by that queue ({@code releaseAsked} by the thread that releases) and read by any
 * thread that asks whether the lease is valid.
 */
public final class HeldLease {
  private static final long CHECK_INTERVAL_NANOS = 20_000_000;
  private static final long LEAST_RETRY_NANOS = 5_000_000;

  /** Of the check interval, while others come and go on a node: up to 640 ms. */
  private static final int MOST_DOUBLINGS = 5;

  final LockKeys keys;
  final Terms terms;
  final int handOffs;
  final long grantedNanos;
  private final String id;
  private final long grantToken;
  private final long token;
  private final Nodes nodes;
  private final List<Order> orders;
  private final long capNanos;
  private final List<Order.Ticket> tickets = new ArrayList<>(0);

  private volatile Validity validity;
  private volatile @Nullable LeaseEnd end;
  private volatile boolean releaseAsked;

  private final AcquireRound votes;
  private @Nullable AcquireRound won;
  private @Nullable ExtendRound round;
  private long nextExtendNanos;
  private long lastAskedNanos;
  private boolean checkDue;
  private long healing;

  /**
   * Nodes that missed it when its release had been asked for: whoever goes on with the grant heals.
   */
  private long unhealed;

  /** Nodes that have told an extension that the key is not ours there. */
  private long notOurs;

  /** How often in a row that was told. */
  private int lookedInVain;

  /** Nodes that anything of this lease was ever sent to, and that may therefore store it. */
  private long written;

  private boolean abandoned;
  private final int othersInLine;

  HeldLease(
      AcquireRound won, long written, Terms terms, Nodes nodes, List<Order> orders, int handOffs) {
    this.written = written;
    keys = won.request.keys();
    id = won.request.leaseId();
    grantToken = won.request.token();
    token = grantToken;
    this.terms = terms;
    this.nodes = nodes;
    this.orders = orders;
    this.handOffs = handOffs;
    votes = won;
    this.won = won;
    validity = won.validity;
    grantedNanos = won.startNanos;
    lastAskedNanos = won.startNanos;
    capNanos = won.startNanos + terms.capNanos();
    nextExtendNanos = won.startNanos + terms.ttlNanos() / 3;
    othersInLine = won.othersInLine();
  }

  /** The next lease of the same grant: nothing is asked, and validity stays what it is. */
  private HeldLease(HeldLease before, int handOffs, long nowNanos) {
    keys = before.keys;
    id = before.id;
    grantToken = before.grantToken;
    token = before.token + 1;
    terms = before.terms;
    nodes = before.nodes;
    orders = before.orders;
    this.handOffs = handOffs;
    grantedNanos = nowNanos;
    capNanos = nowNanos + terms.capNanos();
    validity = before.validity;
    votes = before.votes;
    won = before.won;
    nextExtendNanos = before.nextExtendNanos;
    lastAskedNanos = before.lastAskedNanos;
    notOurs = before.notOurs;
    lookedInVain = before.lookedInVain;
    unhealed = before.unhealed | before.healing;
    written = before.written;
    othersInLine = before.othersInLine;
  }

  /**
   * Whether the next may have it without a round: the votes that granted it would do so now, no
   * older than the node timeout as any that count, nothing that was pushed since makes the nodes
   * worth asking, and the grant has a token left. A lease that is not extended by itself begins
   * with its whole lease time, and so with a round.
   */
  boolean mayPassTo(Waiter next, long nowNanos, long nowWallMillis) {
    return extendsItself()
        && next.terms.equals(terms)
        && !terms.fair() // Nobody but the nodes can tell who else stands in line.
        && round == null
        && !checkDue
        && notOurs == 0
        && votes.wouldWin(nowNanos, nowWallMillis)
        && token + 1 < grantToken + TokenWindow.PER_GRANT;
  }

  /** Whether the grant was another's before, and no node was asked since. */
  boolean wasPassedOn() {
    return token != grantToken;
  }

  /** Ends here, and goes on as the next one's. */
  HeldLease passOn(int handOffs, long nowNanos) {
    return new HeldLease(this, handOffs, nowNanos);
  }

  /** Begins with the grant of another: what was missed while that was ending is made up for. */
  void goOn(long nowNanos, long nowWallMillis) {
    long missed = unhealed;
    unhealed = 0;
    heal(missed, nowNanos, nowWallMillis);
  }

  /** The secret under its keys. */
  public String id() {
    return id;
  }

  /** Its fencing token, for the resource. */
  public long token() {
    return token;
  }

  /** The token of its grant, for the nodes. */
  public long grantToken() {
    return grantToken;
  }

  /** What it covers. */
  public LockKeys keys() {
    return keys;
  }

  /** The newest validity, also after the end. */
  public Validity validity() {
    return validity;
  }

  /** How it ended, or null. */
  public @Nullable LeaseEnd end() {
    return end;
  }

  /** The time it may still be trusted: nothing once it ended or its release was asked for. */
  public long remainingNanos(long nowNanos, long nowWallMillis) {
    return end != null || releaseAsked ? 0 : validity.remaining(nowNanos, nowWallMillis);
  }

  /**
   * From now on nothing is valid, whatever the queue is doing. Called by the thread that releases,
   * before anything is sent.
   */
  public void askRelease() {
    releaseAsked = true;
  }

  /** Begins: nodes that were quarantined when the round was put get the lease as well. */
  void begin(long nowNanos, long nowWallMillis) {
    long missed = 0;
    AcquireRound r = won;
    if (r == null) {
      return;
    }
    for (int i = 0; i < nodes.count(); i++) {
      NodeReply reply = r.reply(i);
      // The push that would have told a holder of a release under way came before there was one.
      if (r.notAsked(i) != null || (reply != null && isMissed(reply)) || r.mayBeFreeSince(i)) {
        missed |= 1L << i;
      }
    }
    heal(missed, nowNanos, nowWallMillis);
    closeWonRound();
  }

  /**
   * Unknown, or refused for the token alone: others' roll-backs raise the fence of a node by a
   * little more than the clocks' estimates agree. Nobody else's key is there.
   */
  private static boolean isMissed(NodeReply reply) {
    return reply.code() == ReplyCode.FAILED || reply.code() == ReplyCode.STALE;
  }

  /**
   * Writes the lease to nodes that missed it; a lease on only a quorum is one lost key away from a
   * second owner. Never moves the deadline.
   */
  private void heal(long missed, long nowNanos, long nowWallMillis) {
    if (releaseAsked) {
      unhealed |= missed;
      return;
    }
    if (missed == 0) {
      return;
    }
    ExtendRound h = extendRound(terms.ttlMillis(), true, nowNanos, nowWallMillis);
    long mask = h.begin(missed & ~healing);
    if (mask != 0) {
      healing |= mask;
      written |= mask;
      orders.add(new Order.Send(h, h.request, mask));
    }
  }

  private ExtendRound extendRound(long ttlMillis, boolean heal, long nowNanos, long nowWallMillis) {
    LockRequest.Extend request = new LockRequest.Extend(keys, id, grantToken, ttlMillis);
    return new ExtendRound(
        nodes,
        this,
        request,
        terms.driftNanos(),
        terms.nodeTimeoutNanos(),
        heal,
        nowNanos,
        nowWallMillis);
  }

  /** The round that won it, while answers are still to come. */
  @Nullable AcquireRound won() {
    return won;
  }

  /** A vote that came after the winning one; it never moves the deadline. */
  void onLateVote(int node, NodeReply reply, long nowNanos, long wallMillis) {
    if (isMissed(reply)) {
      heal(1L << node, nowNanos, wallMillis);
    }
    closeWonRound();
  }

  /** The node timeout of the winning round has passed. */
  private void onWonTimeout(AcquireRound r) {
    for (long silent = r.open(); silent != 0; silent &= silent - 1) {
      nodes.knowledge(Long.numberOfTrailingZeros(silent)).failed();
    }
    r.close();
    won = null;
  }

  private void closeWonRound() {
    AcquireRound r = won;
    if (r != null && r.isClosed()) {
      won = null;
    }
  }

  /** On which terms it was granted. */
  public Terms terms() {
    return terms;
  }

  /** Nobody can release it any more: it lives until its validity ends, and no longer. */
  void stopExtending() {
    abandoned = true;
  }

  private boolean extendsItself() {
    return terms.autoExtend() && !abandoned;
  }

  /** How long its keys may live at most after their last writing. */
  long lifeNanos() {
    return terms.ttlNanos() + terms.driftNanos() + terms.nodeTimeoutNanos();
  }

  LockRequest.Release release(long keepMillis, @Nullable String leaveLine) {
    return new LockRequest.Release(keys, id, grantToken, true, keepMillis, leaveLine);
  }

  /** Somebody asks for an extension now. */
  void extendNow(Order.@Nullable Ticket ticket, long nowNanos, long nowWallMillis) {
    if (ticket != null) {
      tickets.add(ticket);
    }
    if (round == null) {
      startRound(nowNanos, nowWallMillis);
    }
  }

  private void startRound(long nowNanos, long nowWallMillis) {
    long leftToCap = capNanos - nowNanos;
    long ttlMillis = terms.ttlMillis();
    // The cap shortens the last extension, so that validity ends there.
    long toCapMillis = (leftToCap + terms.driftNanos()) / 1_000_000L;
    if (toCapMillis < ttlMillis) {
      ttlMillis = toCapMillis;
    }
    boolean prolong = extendsItself() || !tickets.isEmpty();
    boolean useful =
        prolong
            && ttlMillis > 0
            && nowNanos + ttlMillis * 1_000_000L - terms.driftNanos() - validity.deadlineNanos()
                > 0;
    if (!useful) {
      // The cap is reached, or this is only a look: keep what is left, and add nothing.
      ttlMillis =
          Math.max(1, (validity.deadlineNanos() + terms.driftNanos() - nowNanos) / 1_000_000L);
      settleTickets(Order.Outcome.over(LeaseEnd.CAP_REACHED));
      nextExtendNanos = validity.deadlineNanos();
      if (!checkDue) {
        return;
      }
    }
    checkDue = false;
    lastAskedNanos = nowNanos;
    ExtendRound r = extendRound(ttlMillis, false, nowNanos, nowWallMillis);
    round = r;
    long mask = r.begin(Quorum.all(nodes.count()));
    written |= mask;
    if (mask != 0) {
      orders.add(new Order.Send(r, r.request, mask));
    }
  }

  /** The lease ends, or goes on when null. */
  @Nullable LeaseEnd onExtendReply(
      ExtendRound r, int node, NodeReply reply, long nowNanos, long nowWallMillis) {
    if (reply.code() == ReplyCode.LOST) {
      notOurs |= 1L << node;
      lookedInVain++;
    } else if (reply.code().definite()) {
      notOurs &= ~(1L << node);
      lookedInVain = notOurs == 0 ? 0 : lookedInVain;
    }
    if (r.heals()) {
      healing &= ~(1L << node);
      r.onReply(node, reply, nowNanos, nowWallMillis);
      return null;
    }
    ExtendRound.Verdict before = r.verdict();
    ExtendRound.Verdict verdict = r.onReply(node, reply, nowNanos, nowWallMillis);
    return before == ExtendRound.Verdict.UNDECIDED
        ? settle(r, verdict, nowNanos, nowWallMillis)
        : null;
  }

  private @Nullable LeaseEnd settle(
      ExtendRound r, ExtendRound.Verdict verdict, long nowNanos, long nowWallMillis) {
    if (round != r || verdict == ExtendRound.Verdict.UNDECIDED) {
      return null;
    }
    round = null;
    switch (verdict) {
      case RENEWED -> {
        if (r.validity.deadlineNanos() - validity.deadlineNanos() > 0) {
          validity = r.validity;
        }
        nextExtendNanos = r.startNanos + terms.ttlNanos() / 3;
        settleTickets(Order.Outcome.DONE);
        orders.add(new Order.Extended(this, r.repaired()));
      }
      case LOST -> {
        return LeaseEnd.LOST;
      }
      default -> {
        long left = validity.remaining(nowNanos, nowWallMillis);
        long soon = Math.min(terms.ttlNanos() / 10, left / 4);
        nextExtendNanos = nowNanos + Math.max(LEAST_RETRY_NANOS, soon);
        settleTickets(
            Order.Outcome.failed(
                Reports.ofReplies(nodes, keys, r.replies(), r.startNanos, nowNanos)));
        orders.add(new Order.ExtendFailed(this, left));
      }
    }
    // A push came behind an answer that this round has counted, or could not use.
    if (checkDue) {
      lookSoon(patientInterval(), nowNanos);
    }
    return null;
  }

  private void settleTickets(Order.Outcome outcome) {
    for (Order.Ticket ticket : tickets) {
      orders.add(new Order.Settle(ticket, outcome));
    }
    tickets.clear();
  }

  /**
   * A node says that our key was written, deleted or expired: look at once, but not all the time.
   */
  void onHint(int node, long nowNanos) {
    AcquireRound r = won;
    ExtendRound e = round;
    boolean ownCommand =
        (r != null && r.isOpen(node))
            || (e != null && e.isOpen(node))
            || (healing & 1L << node) != 0;
    if (ownCommand) {
      return; // What we asked is executed after whatever was pushed, and will tell.
    }
    long interval = CHECK_INTERVAL_NANOS;
    if ((notOurs & 1L << node) != 0) {
      // Others come and go there; looking each time would wake them up, and so on for ever.
      interval = patientInterval();
    }
    checkDue = true;
    lookSoon(interval, nowNanos);
  }

  private long patientInterval() {
    return CHECK_INTERVAL_NANOS << Math.min(MOST_DOUBLINGS, lookedInVain);
  }

  private void lookSoon(long intervalNanos, long nowNanos) {
    long at = lastAskedNanos + intervalNanos;
    if (at - nowNanos < 0) {
      at = nowNanos;
    }
    if (at - nextExtendNanos < 0) {
      nextExtendNanos = at;
    }
  }

  /** The node has a new connection, and may have forgotten. */
  void onUsable(int node, long nowNanos, long nowWallMillis) {
    healing &= ~(1L << node);
    heal(1L << node, nowNanos, nowWallMillis);
  }

  /** The lease ends, or goes on when null. */
  @Nullable LeaseEnd onTimer(long nowNanos, long nowWallMillis) {
    LeaseEnd over = overdue(nowNanos, nowWallMillis);
    if (over != null) {
      return over;
    }
    AcquireRound w = won;
    if (w != null && w.deadlineNanos() - nowNanos <= 0) {
      onWonTimeout(w);
    }
    ExtendRound r = round;
    if (r != null && r.deadlineNanos() - nowNanos < 0) {
      LeaseEnd end_ = settle(r, r.onTimeout(nowNanos, nowWallMillis), nowNanos, nowWallMillis);
      if (end_ != null) {
        return end_;
      }
    }
    if (round == null && (extendsItself() || checkDue) && nextExtendNanos - nowNanos <= 0) {
      startRound(nowNanos, nowWallMillis);
    }
    return null;
  }

  /** Whether validity is at its end, with a margin so that the holder is told in time. */
  @Nullable LeaseEnd overdue(long nowNanos, long nowWallMillis) {
    if (validity.remaining(nowNanos, nowWallMillis) > noticeNanos()) {
      return null;
    }
    return capNanos - validity.deadlineNanos() <= 1_000_000L
        ? LeaseEnd.CAP_REACHED
        : LeaseEnd.EXPIRED;
  }

  private long noticeNanos() {
    return Math.min(10_000_000L, terms.ttlNanos() / 100);
  }

  void deadlines(NextWake wake) {
    wake.at(validity.deadlineNanos() - noticeNanos());
    AcquireRound w = won;
    if (w != null) {
      wake.at(w.deadlineNanos());
    }
    ExtendRound r = round;
    if (r != null) {
      wake.at(r.deadlineNanos() + 1);
    } else if (extendsItself() || checkDue) {
      wake.at(nextExtendNanos);
    }
  }

  /**
   * Nodes that may store it: to be freed on these. Nothing is owed by one that was down all along.
   */
  long written() {
    return written;
  }

  /** The end, once. */
  void finish(LeaseEnd how) {
    end = how;
    settleTickets(Order.Outcome.over(how));
  }

  int othersInLine() {
    return othersInLine;
  }
}
