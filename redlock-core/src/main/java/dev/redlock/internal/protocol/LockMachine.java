package dev.redlock.internal.protocol;

import dev.redlock.AcquireReport;
import dev.redlock.LeaseEnd;
import dev.redlock.RedlockListener.WakeUp;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.spi.ReplyCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything one client does about one set of names: who waits, the round that is put for the head
 * of the queue, the lease that is held, and what is still to be cleaned up. Events and time come
 * in; orders leave.
 *
 * <p>Only the head of the queue talks to the nodes. On release the lock is handed to the next, in
 * one round trip or none. What happens between processes, and why most of it costs one command, is
 * told in {@link Contention}.
 *
 * <p>Confined to a serial queue of the shell (or to the simulator): none of its methods is safe for
 * concurrent use.
 */
public final class LockMachine {
  private final LockKeys keys;
  private final Nodes nodes;
  private final Randomness random;
  private final List<Order> orders = new ArrayList<>(4);
  private final TokenChoice tokens;
  private final WaitQueue queue = new WaitQueue();
  private final Cleanup cleanup;
  private final PlaceInLine line;
  private final Contention contention;
  private final Turn turn;
  private final List<Survey> surveys = new ArrayList<>(0);

  private @Nullable HeldLease lease;
  private @Nullable AcquireRound round;
  private @Nullable AcquireRound lastAsked;

  private boolean closed;

  /**
   * @param process names this client in the line of fair mode; the same for all its locks
   */
  public LockMachine(LockKeys keys, Nodes nodes, Randomness random, String process) {
    this.keys = keys;
    this.nodes = nodes;
    this.random = random;
    tokens = new TokenChoice(nodes);
    cleanup = new Cleanup(nodes, orders);
    line = new PlaceInLine(keys, nodes, random, cleanup, process);
    contention = new Contention(nodes, keys, random);
    turn = new Turn(nodes, contention);
  }

  // What is known from outside.

  /** The names. */
  public LockKeys keys() {
    return keys;
  }

  /** What is to be done, in this order; the caller carries it out and clears the list. */
  public List<Order> orders() {
    return orders;
  }

  /** Whether nothing is left to remember: the machine may be thrown away. */
  public boolean isIdle() {
    return lease == null
        && round == null
        && queue.head() == null
        && cleanup.isEmpty()
        && surveys.isEmpty();
  }

  /**
   * Whether the machine may be thrown away: it is idle, and has been for a while. What it remembers
   * of being served in a row, and of others, is worth keeping for as long as others may be on their
   * way.
   */
  public boolean mayRetire(long now) {
    long lingers = turn.lingersUntilNanos();
    return isIdle() && (closed || lingers == Long.MIN_VALUE || lingers - now <= 0);
  }

  /** How many wait, the one who is being served included. */
  public int waiting() {
    return queue.length();
  }

  /** Orders to release that nodes have not answered yet. */
  public int pendingCleanups() {
    return cleanup.pending();
  }

  /** Whether any node's number of them has changed since {@link #takeCleanupNews}. */
  public boolean hasCleanupNews() {
    return cleanup.hasNews();
  }

  /** How many more of them each node has than when this was last asked; good until then. */
  public int[] takeCleanupNews() {
    return cleanup.takeNews();
  }

  /** The lease that this client holds, or null. */
  public @Nullable HeldLease lease() {
    return lease;
  }

  /** When {@link #onTimer} is to be called; {@link Long#MAX_VALUE} for never. */
  public long delayNanos(long nowNanos) {
    NextWake wake = new NextWake(nowNanos);
    queue.deadlines(wake);
    HeldLease l = lease;
    if (l != null) {
      l.deadlines(wake);
    }
    AcquireRound r = round;
    Waiter head = queue.head();
    if (r != null) {
      wake.at(contention.roundDeadline(r));
    } else if (l == null && head != null) {
      // Both have to be over; whichever is over first must not wake anybody for nothing.
      if (head.once) {
        contention.deadlines(wake);
      } else {
        turn.deadlines(wake);
      }
    } else if (turn.lingersUntilNanos() != Long.MIN_VALUE && isIdle()) {
      wake.at(turn.lingersUntilNanos());
    }
    cleanup.deadlines(wake);
    for (int i = 0; i < surveys.size(); i++) {
      wake.at(surveys.get(i).deadlineNanos());
    }
    return wake.delayNanos();
  }

  // Events of users.

  /** Somebody wants the lock. */
  public void submit(Waiter w, long now, long wall) {
    endIfOverdue(now, wall);
    if (closed) {
      refuse(w, AcquireReport.Verdict.ABANDONED, now);
      return;
    }
    int length = queue.length();
    if (w.once && (lease != null || length > 0)) {
      refuse(w, AcquireReport.Verdict.HELD_LOCALLY, now);
      return;
    }
    if (length >= w.terms.queueBound()) {
      orders.add(new Order.TurnAway(w, length));
      return;
    }
    queue.add(w);
    if (length > 0 || lease != null) {
      orders.add(new Order.Queued(length + 1));
    }
    proceed(now, wall);
  }

  /**
   * A waiter gives up. Cancelling the caller never cancels the clean-up.
   *
   * @return false if it does not wait here: it has the lease, or was refused
   */
  public boolean cancel(Waiter w, long now, long wall) {
    endIfOverdue(now, wall);
    boolean head = queue.head() == w;
    if (!queue.remove(w)) {
      return false;
    }
    if (head) {
      abandon(w, now);
    }
    leaveLine(now);
    proceed(now, wall);
    return true;
  }

  /**
   * The holder releases; {@code ticket} is settled when a quorum has confirmed, or at once if
   * another takes over.
   */
  public void release(HeldLease l, Order.Ticket ticket, long now, long wall) {
    l.askRelease();
    if (l != lease) {
      orders.add(new Order.Settle(ticket, Order.Outcome.DONE));
      return;
    }
    if (l.validity().remaining(now, wall) <= 0) {
      end(l, LeaseEnd.EXPIRED, ticket, now);
    } else if (mayHandOff(l, now, wall)) {
      // What comes of it is the next one's business; and a caller that is back while the round runs
      // stands in the queue for the one after.
      orders.add(new Order.Settle(ticket, Order.Outcome.DONE));
      handOff(l, now, wall);
    } else {
      end(l, LeaseEnd.RELEASED, ticket, now);
    }
    proceed(now, wall);
  }

  /** The holder wants more time now. */
  public void extend(HeldLease l, Order.Ticket ticket, long now, long wall) {
    endIfOverdue(now, wall);
    LeaseEnd over = l.end();
    if (l != lease) {
      orders.add(
          new Order.Settle(ticket, Order.Outcome.over(over == null ? LeaseEnd.RELEASED : over)));
      return;
    }
    l.extendNow(ticket, now, wall);
  }

  /** Nobody can release the lease any more: it is left to end by itself. */
  public void stopExtending(HeldLease l) {
    if (l == lease) {
      l.stopExtending();
    }
  }

  /** Asks all nodes what they know; the survey is settled as its own ticket. */
  public Survey inspect(long timeoutNanos, long now) {
    Survey s = Survey.begin(nodes, new LockRequest.Inspect(keys), timeoutNanos, now, orders);
    surveys.add(s);
    finishSurveys(now);
    return s;
  }

  /** Takes the lock from its holder, on all nodes. */
  public Survey breakLock(long timeoutNanos, long now) {
    long token = tokens.propose(now);
    Survey s = Survey.begin(nodes, new LockRequest.Break(keys, token), timeoutNanos, now, orders);
    surveys.add(s);
    finishSurveys(now);
    return s;
  }

  /** No new work; waiters are refused, the lease is released. */
  public void close(long now, long wall) {
    closed = true;
    for (Waiter w = queue.head(); w != null; w = queue.head()) {
      boolean served = round != null;
      AcquireRound seen = w.attempts > 0 ? lastAsked : null;
      queue.remove(w);
      if (served) {
        abandon(w, now);
      }
      refuse(w, AcquireReport.Verdict.ABANDONED, seen, now);
    }
    leaveLine(now);
    HeldLease l = lease;
    if (l != null) {
      l.askRelease();
      boolean valid = l.validity().remaining(now, wall) > 0;
      end(l, valid ? LeaseEnd.RELEASED : LeaseEnd.EXPIRED, null, now);
    }
  }

  /** Gives up the earliest order to release: too many are owed. */
  public void forgetOldestCleanup() {
    cleanup.forgetOldest();
  }

  // Events of nodes and of time.

  /** A node answers. */
  public void onReply(Exchange exchange, int node, NodeReply reply, long now, long wall) {
    if (!exchange.answered(node)) {
      return; // A copy.
    }
    endIfOverdue(now, wall);
    if (reply.code().definite()) {
      nodes.knowledge(node).observe(askedAt(exchange), now, reply.nodeMicros());
      tokens.seen(reply.fence(), now);
    }
    if (exchange instanceof AcquireRound r) {
      onVote(r, node, reply, now, wall);
    } else if (exchange instanceof ExtendRound r) {
      onExtendReply(r, node, reply, now, wall);
    } else if (exchange instanceof Cleanup.Entry e) {
      turn.released(e, node, reply, now);
      cleanup.onReply(e, node, reply, now);
    } else if (exchange instanceof Survey s) {
      s.onReply(node, reply);
      HeldLease l = lease;
      if (s.breaks() && l != null && reply.code().definite()) {
        l.onHint(node, now); // Nodes do not push what this client's own connection has written.
      }
      finishSurveys(now);
    }
    proceed(now, wall);
  }

  /** A node, or (−1) another carrier, says that the lock may be free now. */
  public void onHint(int node, long now, long wall) {
    HeldLease l = lease;
    if (l == null) {
      AcquireRound r = round;
      if (r != null && node >= 0) {
        r.onPush(node);
      }
      if (queue.head() != null) {
        contention.onHint(node, r, now);
      }
      return;
    }
    if (node >= 0) {
      l.onHint(node, now);
    }
    onTimer(now, wall);
  }

  /** A node's connection changed its state. */
  public void onNodeStatus(int node, long now, long wall) {
    endIfOverdue(now, wall);
    NodeStatus status = nodes.status(node);
    if (!status.usable()) {
      proceed(now, wall);
      return;
    }
    cleanup.onUsable(node, now);
    HeldLease l = lease;
    if (l != null) {
      l.onUsable(node, now, wall);
    } else if (status.state() == NodeStatus.State.VOTING && queue.head() != null) {
      contention.onHint(-1, round, now);
    }
    proceed(now, wall);
  }

  /** Time has passed. */
  public void onTimer(long now, long wall) {
    HeldLease l = lease;
    if (l != null) {
      LeaseEnd over = l.onTimer(now, wall);
      if (over != null) {
        end(l, over, null, now);
      }
    }
    for (Waiter w = queue.overdue(now); w != null; w = queue.overdue(now)) {
      leave(w, now);
    }
    AcquireRound r = round;
    if (r != null) {
      onRoundTimer(r, now, wall);
    }
    cleanup.onTimer(now);
    finishSurveys(now);
    proceed(now, wall);
  }

  // The round.

  private void onRoundTimer(AcquireRound r, long now, long wall) {
    if (contention.isSplit(r, now)) {
      r.giveUp();
      refused(r, now);
      return;
    }
    if (contention.roundDeadline(r) - now > 0) {
      return;
    }
    for (int i = 0; i < nodes.count(); i++) {
      if (r.isOpen(i)) {
        NodeKnowledge known = nodes.knowledge(i);
        if (r.deadlineNanos() - now <= 0) {
          known.failed();
        } else {
          known.overdue();
        }
      }
    }
    if (r.waitsForDoor()) {
      decide(r, r.passOverDoor(now, wall), now, wall);
    } else if (r.deadlineNanos() - now <= 0 || r.knock || contention.waitsInVain(r, now)) {
      decide(r, r.onTimeout(now, wall), now, wall);
    }
  }

  private void onVote(AcquireRound r, int node, NodeReply reply, long now, long wall) {
    NodeError error = reply.error();
    if (error != null && error.kind() == NodeError.Kind.OVERLOADED) {
      r.notSent(node);
    }
    HeldLease l = lease;
    boolean granted = reply.code() == ReplyCode.GRANTED;
    if (granted) {
      line.granted(node);
    }
    if (r == round) {
      decide(r, r.onReply(node, reply, now, wall), now, wall);
      return;
    }
    if (r == lastAsked) {
      r.onLateReply(node, reply, now);
    }
    if (!granted && queue.head() == null) {
      line.leave(1L << node, now);
    }
    boolean won = r.verdict() == AcquireRound.Verdict.WON && !r.knock;
    // Others ask the door alone; it may be too far away to be among those that decide.
    if (won) {
      turn.heard(reply);
    }
    if (won && r.predecessor != null) {
      cleanup.onFollower(r.predecessor.id(), node, granted, now);
    }
    if (l != null && l.won() == r) {
      l.onLateVote(node, reply, now, wall);
    } else if (granted && !r.isSuperseded(node) && !isOfLease(r)) {
      cleanup.onLateGrant(r.request, won, node, now);
    }
  }

  /**
   * Whether what this question left on a node is of the lease that is held, or asked for, or being
   * handed on: then it is where it belongs, or is taken over or freed with that.
   */
  private boolean isOfLease(AcquireRound r) {
    String id = r.request.leaseId();
    HeldLease l = lease;
    AcquireRound current = round;
    return (l != null && l.id().equals(id))
        || (current != null
            && (current.request.leaseId().equals(id)
                || id.equals(current.request.previousLeaseId())));
  }

  private void decide(AcquireRound r, AcquireRound.Verdict verdict, long now, long wall) {
    switch (verdict) {
      case UNDECIDED -> {}
      case WON -> {
        over(r, now);
        if (r.knock) {
          contention.admitted();
          ask(r.request.leaseId(), null, now, wall);
        } else {
          grant(r, now, wall);
        }
      }
      case STALE -> {
        if (r.predecessor != null || !contention.secondToken()) {
          refused(r, now);
          return;
        }
        over(r, now);
        long token = tokens.proposeAfter(r.replies(), r.answeredNanos(), now);
        if (r.knock) {
          knock(head(), r.door(), r.request.leaseId(), token, now, wall);
        } else {
          put(
              request(r.request.leaseId(), token, null),
              false,
              null,
              Quorum.all(nodes.count()),
              now,
              wall);
        }
      }
      default -> refused(r, now);
    }
  }

  /** Somebody stands at the head, nothing is held or under way, and it is time: ask. */
  private void proceed(long now, long wall) {
    // Each turn puts a round, refuses somebody, or finds that it is not time yet.
    while (!closed && lease == null && round == null) {
      Waiter head = queue.head();
      if (head == null) {
        contention.reset();
        return;
      }
      if (!contention.isTime(now) || (!head.once && turn.staysBack(head.terms, now))) {
        return;
      }
      if (!head.once && contention.rests(head.terms, queue, now)) {
        return;
      }
      WakeUp cause = contention.wake();
      if (cause != null) {
        orders.add(new Order.Woken(cause));
      }
      // A single try asks everybody: a leftover at the door must not refuse what a quorum would
      // grant.
      boolean direct = head.once && head.attempts == 0;
      boolean fair = head.terms.fair();
      int door = contention.throughDoor(fair) && !direct ? contention.door(fair) : -1;
      if (door >= 0) {
        knock(head, door, random.leaseId(), tokens.propose(now), now, wall);
      } else {
        ask(random.leaseId(), null, now, wall);
      }
    }
  }

  /** Asks the door alone, for a short time to live. */
  private void knock(Waiter head, int door, String leaseId, long token, long now, long wall) {
    long ttlMillis = Math.max(2, 2 * head.terms.nodeTimeoutNanos() / 1_000_000L);
    LockRequest.Acquire knock =
        new LockRequest.Acquire(
            keys,
            leaseId,
            token,
            Math.min(ttlMillis, head.terms.ttlMillis()),
            null,
            0,
            head.terms.fair() ? line.stand(head, door) : null);
    put(knock, true, null, 1L << door, now, wall);
  }

  /** Puts an ordinary round to all nodes. */
  private void ask(String leaseId, @Nullable HeldLease before, long now, long wall) {
    AcquireRound last = lastAsked;
    boolean follows = before != null || (last != null && last.request.leaseId().equals(leaseId));
    put(
        request(leaseId, follows ? tokens.proposeAbove(now) : tokens.propose(now), before),
        false,
        before,
        Quorum.all(nodes.count()),
        now,
        wall);
  }

  private LockRequest.Acquire request(String leaseId, long token, @Nullable HeldLease before) {
    Waiter head = head();
    return new LockRequest.Acquire(
        keys,
        leaseId,
        token,
        head.terms.ttlMillis(),
        before == null ? null : before.id(),
        before == null ? 0 : before.grantToken(),
        null);
  }

  private void put(
      LockRequest.Acquire request,
      boolean knock,
      @Nullable HeldLease before,
      long candidates,
      long now,
      long wall) {
    Waiter head = head();
    head.attempts++;
    AcquireRound r = new AcquireRound(nodes, request, head.terms, knock, before, now, wall);
    round = r;
    lastAsked = r;
    if (!knock) {
      nodes.pace().began();
    }
    long mask = r.begin(candidates);
    contention.asked(r);
    orders.add(new Order.Attempted(knock));
    AcquireRound.Verdict verdict = r.atOnce(now, wall);
    if (verdict != AcquireRound.Verdict.UNDECIDED) {
      r.neverSent();
      decide(r, verdict, now, wall);
      return;
    }
    int admittedBy = contention.admittedBy(r);
    int door =
        !head.terms.fair() || knock ? -1 : admittedBy >= 0 ? admittedBy : contention.door(true);
    if (door >= 0 && (mask & 1L << door) != 0) {
      LockRequest.Line place = admittedBy >= 0 ? line.admitted(head) : line.stand(head, door);
      r.standsAt(door);
      orders.add(new Order.Send(r, inLine(request, place), 1L << door));
      mask &= ~(1L << door);
    }
    if (mask != 0) {
      orders.add(new Order.Send(r, request, mask));
    }
  }

  private static LockRequest.Acquire inLine(
      LockRequest.Acquire plain, LockRequest.@Nullable Line line) {
    return new LockRequest.Acquire(
        plain.keys(),
        plain.leaseId(),
        plain.token(),
        plain.ttlMillis(),
        plain.previousLeaseId(),
        plain.previousToken(),
        line);
  }

  private Waiter head() {
    Waiter head = queue.head();
    if (head == null) {
      throw new IllegalStateException("a round is put for nobody on " + keys);
    }
    return head;
  }

  // What comes of a round.

  private void grant(AcquireRound r, long now, long wall) {
    Waiter w = head();
    queue.remove(w);
    HeldLease before = r.predecessor;
    turn.granted(r, now);
    long written = r.sentMask() | contention.sentBefore(r);
    HeldLease l = new HeldLease(r, written, w.terms, nodes, orders, turn.handOffs());
    lease = l;
    contention.granted();
    if (before != null) {
      handedOff(before);
      cleanup.addBehind(
          before.release(0, null),
          before.written() & ~r.grantedMask(),
          r.open(),
          before.lifeNanos(),
          r.deadlineNanos(),
          now);
    }
    orders.add(new Order.Grant(w, l));
    line.leave(~r.open(), now);
    l.begin(now, wall);
  }

  /** Nothing is asked any more for whoever the round was put for. */
  private void over(AcquireRound r, long now) {
    round = null;
    if (!r.knock) {
      nodes.pace().ended(r, nodes, now);
    }
  }

  /** The round got no quorum: undo it everywhere, then wait for the right time. */
  private void refused(AcquireRound r, long now) {
    Waiter head = head();
    standAgain(head, r, now);
    drop(r, now);
    if (r.predecessor != null) {
      contention.reset(); // It was never refused by anybody: an ordinary contender from now on.
      if (r.verdict() == AcquireRound.Verdict.HELD) {
        contention.expectOthers(); // Fair mode: others stand in line.
      }
      return;
    }
    if (r.verdict() == AcquireRound.Verdict.HELD) {
      turn.isOthers();
    }
    boolean again = contention.refused(r, head.terms, head.once, now);
    if (!again) {
      queue.remove(head);
      leaveLine(now);
      refuse(head, Reports.verdict(r), r, now);
      contention.reset();
    }
  }

  /**
   * Fair mode: with its grant the door has taken us out of its line; the round failed all the same,
   * for a release may still be on its way to other nodes. Sent before the roll-back, so that nobody
   * finds the door free and us not in line.
   */
  private void standAgain(Waiter head, AcquireRound r, long now) {
    int door = r.lineDoor();
    if (door < 0 || head.once || r.predecessor != null || !r.mayBeGranted(door)) {
      return;
    }
    LockRequest.Acquire place = line.standAgain(head, door, r.request.leaseId());
    orders.add(new Order.Send(new PlaceInLine.Again(door, now), place, 1L << door));
  }

  /** Undoes a round, and frees the predecessor that it would have followed. */
  private void drop(AcquireRound r, long now) {
    over(r, now);
    HeldLease before = r.predecessor;
    if (before != null) {
      end(before, LeaseEnd.RELEASED, null, now);
    }
    long mask = undoMask(r);
    if (mask == 0) {
      return;
    }
    LockRequest.Acquire q = r.request;
    LockRequest.Release undo =
        new LockRequest.Release(keys, q.leaseId(), q.token(), false, 0, null);
    cleanup.add(undo, mask, lifeNanos(q), null, now);
  }

  /** A round after a knock, or with a second token, undoes what the first left as well. */
  private long undoMask(AcquireRound r) {
    if ((r.knock || nodes.count() == 1) && r.isRefusedForSure()) {
      // One question, at most once on the wire, and the answer is no: nothing is there. Rolling it
      // back would raise the fence above the next token of the holder, and spoil its hand-off.
      return 0;
    }
    return r.sentMask() | contention.sentBefore(r);
  }

  private static long lifeNanos(LockRequest.Acquire q) {
    return q.ttlMillis() * 1_010_000L + 1_000_000_000L;
  }

  /** The head gives up in the middle of whatever is done for it. */
  private void abandon(Waiter w, long now) {
    AcquireRound r = round;
    Waiter next = queue.head();
    if (r == null && next != null && next.terms.equals(w.terms) && !w.terms.fair()) {
      return; // Who comes next may sleep on: what is known of the others has not changed.
    }
    if (r != null) {
      drop(r, now);
    }
    contention.reset();
  }

  private void leave(Waiter w, long now) {
    boolean head = queue.head() == w;
    AcquireRound seen = head && w.attempts > 0 ? lastAsked : null;
    queue.remove(w);
    if (head) {
      if (seen != null && seen == round) {
        seen.onTimeout(now, 0);
      }
      abandon(w, now);
      leaveLine(now);
    }
    AcquireReport.Verdict verdict =
        seen == null ? AcquireReport.Verdict.HELD_LOCALLY : Reports.verdict(seen);
    refuse(w, verdict, seen, now);
  }

  private void leaveLine(long now) {
    if (queue.head() == null) {
      line.leave(Quorum.all(nodes.count()), now);
    }
  }

  private void refuse(Waiter w, AcquireReport.Verdict verdict, long now) {
    refuse(w, verdict, null, now);
  }

  private void refuse(
      Waiter w, AcquireReport.Verdict verdict, @Nullable AcquireRound seen, long now) {
    orders.add(new Order.Refuse(w, Reports.of(nodes, keys, seen, verdict, w, now)));
  }

  // The lease.

  private void onExtendReply(ExtendRound r, int node, NodeReply reply, long now, long wall) {
    if (r.lease != lease) {
      return; // It is over, or goes on as another's: what that needs to know it asks for itself.
    }
    LeaseEnd over = r.lease.onExtendReply(r, node, reply, now, wall);
    if (over != null) {
      end(r.lease, over, null, now);
    }
  }

  private void endIfOverdue(long now, long wall) {
    HeldLease l = lease;
    if (l != null) {
      LeaseEnd over = l.overdue(now, wall);
      if (over != null) {
        end(l, over, null, now);
      }
    }
  }

  private void end(HeldLease l, LeaseEnd how, Order.@Nullable Ticket ticket, long now) {
    if (lease == l) {
      lease = null;
    }
    l.finish(how);
    orders.add(new Order.End(l, how));
    long keepMillis = 0;
    if (how == LeaseEnd.RELEASED) {
      long keepNanos = l.grantedNanos + l.terms.minimumHoldNanos() - now;
      keepMillis = keepNanos > 0 ? keepNanos / 1_000_000L + 1 : 0;
    }
    cleanup.add(
        l.release(keepMillis, null),
        l.written(),
        l.lifeNanos(),
        ticket == null ? null : new Cleanup.Ticket(ticket, l, now + l.terms.nodeTimeoutNanos()),
        now);
    orders.add(
        new Order.Announce(
            l, how.byHolder() ? ReleaseHints.Reason.RELEASED : ReleaseHints.Reason.LOST));
    if (keepMillis > 0) {
      contention.pauseUntil(now + keepMillis * 1_000_000L);
    }
    turn.ended(l, how, now);
  }

  private boolean mayHandOff(HeldLease l, long now, long wall) {
    Waiter next = queue.head();
    return next != null
        && !closed
        && l.handOffs < l.terms.maxHandOffs()
        && now - l.grantedNanos >= l.terms.minimumHoldNanos()
        && (!l.terms.fair() || l.othersInLine() == 0)
        && l.validity().remaining(now, wall) > next.terms.nodeTimeoutNanos();
  }

  /** Without asking anybody if the votes that won would do so again, else by a round. */
  private void handOff(HeldLease l, long now, long wall) {
    if (l.mayPassTo(head(), now, wall)) {
      passOn(l, now, wall);
      return;
    }
    lease = null;
    contention.reset();
    ask(random.leaseId(), l, now, wall);
  }

  private void passOn(HeldLease l, long now, long wall) {
    Waiter next = head();
    queue.remove(next);
    turn.passedOn();
    HeldLease follower = l.passOn(turn.handOffs(), now);
    lease = follower;
    handedOff(l);
    orders.add(new Order.Grant(next, follower));
    follower.goOn(now, wall);
  }

  private void handedOff(HeldLease l) {
    l.finish(LeaseEnd.HANDED_OFF);
    orders.add(new Order.End(l, LeaseEnd.HANDED_OFF));
    orders.add(new Order.Announce(l, ReleaseHints.Reason.HANDED_OFF));
  }

  private void finishSurveys(long now) {
    for (int i = surveys.size() - 1; i >= 0; i--) {
      Survey s = surveys.get(i);
      if (s.finish(now)) {
        surveys.remove(i);
        orders.add(new Order.Settle(s, Order.Outcome.DONE));
      }
    }
  }

  private static long askedAt(Exchange exchange) {
    if (exchange instanceof AcquireRound r) {
      return r.startNanos;
    }
    if (exchange instanceof ExtendRound r) {
      return r.startNanos;
    }
    if (exchange instanceof Cleanup.Entry e) {
      return e.sentNanos();
    }
    if (exchange instanceof PlaceInLine.Again a) {
      return a.startNanos;
    }
    return ((Survey) exchange).startNanos();
  }
}
