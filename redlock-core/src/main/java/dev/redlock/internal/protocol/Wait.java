package dev.redlock.internal.protocol;

import dev.redlock.internal.protocol.WaitState.AskingAll;
import dev.redlock.internal.protocol.WaitState.Asleep;
import dev.redlock.internal.protocol.WaitState.EnteringQueue;
import dev.redlock.internal.protocol.WaitState.Ready;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One wait of the head of the local queue: its requests, one at a time, when it asks again after a
 * refusal, and which nodes it asks. It ends when the lock is granted, or when the head leaves. If
 * the next head would wait in the same way, it takes over the sleep.
 *
 * <p>The Redis specification sleeps for a random time and asks all nodes again. With many waiters
 * that costs hundreds of commands for each lease. And if A, B and C ask three nodes at the same
 * time, each may get one vote, and no client a quorum.
 *
 * <p>Here a refused process enters the queue of the {@link HomeNode}, which is the same node for
 * all clients, and sleeps. A release wakes the first of the queue, and that one asks all nodes. So
 * a hand-over takes two round trips, and costs the same however many processes wait. What becomes
 * of a process that misses its turn, see {@link Place}. Each event says in one place when and whom
 * to ask next, and leaves that in the {@link WaitState}.
 *
 * <p>All of this only saves time and commands. Votes alone decide who has the lock.
 */
final class Wait {
  private final Nodes nodes;
  private final Randomness random;
  private final HomeNode home;

  /** The head that asked last, also after it has left; null before the first request. */
  private final @Nullable Waiter waiter;

  private WaitState state = new Ready(Whom.ALL_UNLESS_OTHERS_WANT);
  private Place place = Place.NONE;
  private Setbacks setbacks = Setbacks.NONE;
  private Learned learned = Learned.NOTHING;

  /** The newest round; null if it cannot show a leftover key, or has led to a search for one. */
  private @Nullable AcquireRound lastVotes;

  /**
   * Fair mode: the request that queues this process for its next caller while it holds the lock.
   * Without a place the release wakes another process, although this caller may have come first.
   */
  private @Nullable QueueRequest early;

  Wait(Nodes nodes, HomeNode home, Randomness random) {
    this.nodes = nodes;
    this.home = home;
    this.random = random;
    waiter = null;
  }

  /** The same wait, of this head from now on. The early request was for its first question only. */
  private Wait(Wait before, Waiter head) {
    nodes = before.nodes;
    home = before.home;
    random = before.random;
    waiter = head;
    state = before.state;
    place = before.place;
    setbacks = before.setbacks;
    learned = before.learned;
    lastVotes = before.lastVotes;
  }

  /** The next wait, without this one's setbacks. What was learned of the lock outlives a wait. */
  Wait next() {
    boolean unasked = waiter == null && lastVotes == null && state instanceof Ready;
    if (unasked && !place.isKnown() && state.whom() == Whom.ALL_UNLESS_OTHERS_WANT) {
      return this; // Each event of a lock without a waiter comes here.
    }
    Wait next = new Wait(nodes, home, random);
    next.learned = learned;
    next.early = early;
    return next;
  }

  /** The same after a grant: the votes of this round may show a leftover key to the next head. */
  Wait nextAfterGrant() {
    Wait next = next();
    next.lastVotes = lastVotes; // But not the waiter: the lease must not be reachable here.
    return next;
  }

  // The head, and its requests.

  /** The head asks now: the one that asked before, or the next. */
  Wait askedBy(Waiter head) {
    home.use(head.config);
    return waiter == head ? this : new Wait(this, head);
  }

  Waiter waiter() {
    return Objects.requireNonNull(waiter, "no head has asked");
  }

  /** Fair mode: this request was sent for the next caller. */
  void queuedEarly(QueueRequest request) {
    early = request;
  }

  /** The request that was sent early for this caller, which has not asked yet; or null. */
  @Nullable QueueRequest earlyFor(Waiter w) {
    return early != null && early.next == w ? early : null;
  }

  /** The request to be queued that is under way, or null. */
  @Nullable QueueRequest entering() {
    return state instanceof EnteringQueue e ? e.request() : null;
  }

  /** The round under way, or null. */
  @Nullable AcquireRound round() {
    return state instanceof AskingAll a ? a.round() : null;
  }

  /**
   * Whether this round has won, and no head has asked since; or it was the last to refuse the head.
   * Reports show late votes for it.
   */
  boolean isNewest(AcquireRound r) {
    return r == (waiter == null ? lastVotes : waiter.refusedBy);
  }

  /** Whether the head that asked last knows why it waits, and does not ask all nodes since. */
  boolean isRefused() {
    boolean queued = round() == null && place.request() != null;
    return waiter != null && (waiter.refusedBy != null || queued);
  }

  /**
   * The round that was refused to the head that asked last, if not because the lock is held, and if
   * the home node has said nothing newer; else null. It is the reason also for callers for which no
   * node was asked: an outage must not look like a lock that is held.
   */
  @Nullable AcquireRound outage() {
    AcquireRound last = waiter == null ? null : waiter.refusedBy;
    return last == null || last.verdict().isHeld() || Reports.isNews(nodes, place.request(), last)
        ? null
        : last;
  }

  /** The newest round that was started for the waiter, or null. */
  @Nullable AcquireRound roundFor(Waiter w) {
    AcquireRound r = round();
    return waiter != w ? null : r != null ? r : w.refusedBy;
  }

  /** The request to be queued that a report on the waiter shows, or null. */
  @Nullable QueueRequest queuedFor(Waiter w) {
    return waiter != w ? null : place.request() != null ? place.request() : entering();
  }

  /** This node is asked to queue the process; the request may have been sent early. */
  void enter(QueueRequest request) {
    state = new EnteringQueue(request, false);
  }

  /**
   * All nodes are asked. The votes of two rounds are never added up: each round has a token of its
   * own, and a grant of an earlier token does not say that the node accepts the later one. If a
   * later round of a lease id was sent to the same node, that round rolls back what the earlier one
   * left there.
   */
  void begin(AcquireRound round) {
    AcquireRound before = round();
    if (before != null && before.request.leaseId().equals(round.request.leaseId())) {
      round.recipients.follow(before.recipients);
    }
    lastVotes = round;
    state = new AskingAll(round);
  }

  // Sleep.

  WaitState state() {
    return state;
  }

  /** Ends the sleep; returns its cause, or null if there was no sleep. */
  @Nullable WakeUp wake() {
    WakeUp ended = state instanceof Asleep ? learned.cause() : null;
    state = new Ready(state.whom());
    return ended;
  }

  /**
   * Sleeps until then, for this cause; then asks these nodes.
   *
   * @param hints whether a hint may end the sleep earlier
   */
  private void sleep(long untilNanos, WakeUp why, boolean hints, Whom whom) {
    state = new Asleep(untilNanos, hints, whom);
    learned = learned.cause(why);
  }

  /**
   * A hint: ends the sleep by then, if that is earlier than planned, and asks these nodes. Without
   * a place it asks all nodes, which must be able to grant: a single try has one round left.
   */
  private void shortenSleep(long untilNanos, Whom whom) {
    boolean useful = place.node() >= 0 || nodes.hasQuorum();
    if (useful && state.heedsHints() && !state.isOver(untilNanos)) {
      sleep(untilNanos, WakeUp.HINT, true, whom);
    }
  }

  /** Nodes keep the keys of the last lease until then, and no hint changes that. */
  void keepTaken(long untilNanos) {
    sleep(untilNanos, WakeUp.PAUSE, false, state.whom());
  }

  /** Too many rounds are under way: asks later. */
  void backOffUntil(long at) {
    sleep(at, state instanceof Asleep ? learned.cause() : WakeUp.PAUSE, true, state.whom());
  }

  /** Each pause is longer than the one before. */
  private void pause(long now, long first, boolean hints, Whom whom) {
    setbacks = setbacks.paused(first);
    long pause = (long) (setbacks.pauseNanos() * (0.5 + random.next()));
    sleep(now + pause, WakeUp.PAUSE, hints, whom);
  }

  // Whom.

  /**
   * The node whose queue to enter before all are asked; −1 to ask all, also if all nodes are passed
   * over. If the home node has to agree, its vote in a round suffices, unless the round harms the
   * first of its queue: if that node is far, the others grant to this process before; if it sends
   * no invalidations, the first polls, and rarely finds the lock free.
   */
  int nodeToQueueAt(Turn turn, long now) {
    return switch (state.whom()) {
      case ALL -> -1;
      case HOME, DOUBTED_HOME -> home.node();
      case ALL_UNLESS_OTHERS_WANT ->
          turn.othersWant() || (turn.needsHome(now) && !home.isNearAndWakes()) ? home.node() : -1;
    };
  }

  /** Whether a release has woken this process, so that the next round is its turn. */
  boolean isAtTurn() {
    return state.whom() == Whom.ALL && place.isFirst() && learned.cause() == WakeUp.HINT;
  }

  /** See {@link LockRequest.Enqueue#afterToken}; for one request, then the lease may be over. */
  long afterToken() {
    return state.whom() == Whom.DOUBTED_HOME ? learned.endedToken() + 1 : 0;
  }

  // What comes of a round.

  /**
   * The round was refused, and the head asks again: decides when and whom to ask. After a first
   * turn in vain it asks the home node at once: the holder's release may still be on its way to the
   * other nodes. After a second turn it pauses first. From the third on it doubts the home node. A
   * single try asks no home node, and pauses: two that have split the votes must not do so again.
   */
  void refused(AcquireRound r, long now) {
    switch (r.verdict()) {
      case HELD, COLLIDED -> {
        learned = learned.quorumFree(r.quorumFreeNanos(now));
        setbacks = r.atTurn ? setbacks.turnInVain() : setbacks;
        Whom whom = setbacks.isHomeWrong() ? Whom.DOUBTED_HOME : Whom.HOME;
        if (setbacks.turnsInVain() > 1 || waiter().singleTry) {
          pause(now, home.roundTripNanos(), !setbacks.isHomeWrong(), whom);
        } else {
          state = new Ready(whom);
        }
      }
      // No other client has won: asks all nodes again, after growing pauses.
      default -> pause(now, waiter().config.nodeTimeoutNanos() / 2, true, Whom.ALL);
    }
  }

  /** The hand-off to the head was refused. No node has refused an ordinary round for it yet. */
  void handOffRefused(boolean held) {
    lastVotes = null; // They replaced the keys of the predecessor: they show no leftover keys.
    // Fair mode: others are queued if the lock is held.
    state = new Ready(held ? Whom.HOME : Whom.ALL_UNLESS_OTHERS_WANT);
  }

  // What comes of a request to be queued.

  /** The node does not reply for longer than usual: the next in order takes its place. */
  void noReply(QueueRequest request) {
    // In fair mode it counts as silent: the next in order takes its place; see HomeNode.pick.
    nodes.blame(1L << request.node, waiter().config.fair());
    state = new Ready(Whom.HOME);
  }

  /**
   * The node is down or fails, and the next in order takes its place. It may vote all the same, and
   * so count as well again: from the second time on all nodes are asked, or a process that this
   * node cannot queue would never ask for the lock. The pause keeps it from asking without end.
   */
  void notQueued(QueueRequest request, long now) {
    nodes.blame(1L << request.node, true);
    pause(now, home.roundTripNanos(), true, setbacks.queueFailed() ? Whom.ALL : Whom.HOME);
    setbacks = setbacks.failedToQueue();
  }

  /** It is the turn of this process, as the node says. */
  void admitted(QueueRequest request, NodeReply reply) {
    setbacks = setbacks.admitted();
    learned = learned.endedToken(reply.fence());
    place = place.admitted(request);
  }

  /** The process is queued: sleeps until its turn. Returns whether it is the first, and waits. */
  boolean queued(QueueRequest request, NodeReply reply, long now) {
    setbacks = setbacks.queued();
    place = Place.queued(request, reply);
    boolean held = reply.code() == Code.HELD;
    long free = place.freeNanos(reply, learned.quorumFreeNanos(), home, now);
    sleepUntilCalled(free, !held || place.ahead() <= 1, now);
    if (suspectsLeftoverAt(request.node)) {
      // Once for these votes: if the key outlives what is under way, all are asked.
      lastVotes = null;
      sleep(now + fewRoundTrips(), WakeUp.PAUSE, true, Whom.ALL);
      return false;
    }
    return held && place.isFirst();
  }

  /** Whether a quorum was free beside the home node: its key may be a leftover. */
  boolean suspectsLeftoverAt(int node) {
    AcquireRound r = lastVotes;
    return r != null && r.freeBeside(node) >= r.members.quorum() && !waiter().config.fair();
  }

  /**
   * Sleeps until a hint, the poll, or {@code free} if it {@code asksWhenFree}. At the poll the
   * first has heard nothing from the home node, and asks all nodes.
   */
  private void sleepUntilCalled(long free, boolean asksWhenFree, long now) {
    boolean wokenByHint = learned.cause() == WakeUp.HINT;
    boolean hinted = state instanceof EnteringQueue entering && entering.hinted();
    LockConfig config = waiter().config;
    long pollAt = place.pollNanos(config, random, now);
    boolean expiry = asksWhenFree && free - pollAt < 0;
    Whom whom = !expiry && place.isFirst() && !config.fair() ? Whom.ALL : Whom.HOME;
    sleep(expiry ? free : pollAt, expiry ? WakeUp.EXPIRY : WakeUp.POLL, true, whom);
    if (hinted) {
      onReleaseHint(false, now);
    } else if (wokenByHint && place.isFirst() && !setbacks.hintInVain()) {
      setbacks = setbacks.hintCameInVain();
      // The hint may have overtaken the release on its way to the home node. Asks once more, for
      // where invalidations are lost, nothing else would tell of it.
      askHomeBy(now + fewRoundTrips());
    }
  }

  // Hints. They may come at any time, also without a head.

  /** Its wake key was written: it is its turn; or it is far back, and those before may be dead. */
  void onTurn(long now) {
    if (setbacks.isHomeWrong()) {
      askHomeBy(now + setbacks.pauseNanos());
    } else if (place.isFar()) {
      askHomeBy(now);
    } else if (state.heedsHints()) {
      place = place.ahead(0);
      sleep(now, WakeUp.HINT, true, Whom.ALL);
    }
  }

  /** It is the turn of the process before this one: passes it over if it is silent. */
  void onTurnBefore(long now) {
    place = place.ahead(Math.min(place.ahead(), 1));
    askHomeBy(now + home.turnPatience(place.node()));
  }

  /**
   * A node reports a change of a lock key. It matters to the first of the queue; if there are
   * several names, to all: the release of a lock on one of them does not know this queue.
   */
  void onLockKey(boolean multi, long now) {
    if (multi) {
      askHomeBy(now + (long) (4 * random.next() * home.roundTripNanos()));
    } else if (place.isFirst()) {
      askHomeBy(now + home.turnPatience(place.node()));
    }
  }

  /** Another carrier than the nodes says that the lock was released. */
  void onReleaseHint(boolean multi, long now) {
    if (state instanceof EnteringQueue entering) {
      state = new EnteringQueue(entering.request(), true);
    }
    place = place.nearer();
    if (multi || place.isFirst() || !place.isKnown()) {
      askHomeBy(now + (long) ((0.5 + random.next()) * home.roundTripNanos()));
    }
  }

  /** The node has a new connection, or lost one: this process may have lost its place. */
  void onNodeStatus(int node, long now) {
    long at = now + (long) (2 * random.next() * home.roundTripNanos());
    if (place.node() < 0) {
      // A quorum may vote again. There is no place to lose, and perhaps no queue.
      shortenSleep(at, state.whom());
    } else if (node == place.node() || home.pick(false) != place.node()) {
      askHomeBy(at);
    }
  }

  private void askHomeBy(long at) {
    shortenSleep(at, state.whom() == Whom.DOUBTED_HOME ? Whom.DOUBTED_HOME : Whom.HOME);
  }

  private long fewRoundTrips() {
    return (long) ((4 + 2 * random.next()) * home.roundTripNanos());
  }
}
