package dev.redlock.internal.protocol;

import dev.redlock.LockOptions;
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
 * to ask next, and leaves that in the state:
 *
 * <pre>
 * Ready          asks all nodes, or the home node for a place in its queue
 * AskingAll      won: ends.         HELD, COLLIDED: Ready for the home node, or a pause
 *                STALE: asks all once more
 *                                   else: Asleep, pauses grow; then asks all
 * EnteringQueue  ADMITTED: asks all HELD, QUEUED: Asleep until the turn, a hint, the expiry, the poll
 *                                   else: a pause; Ready for the next home node, then for all
 * Asleep         Ready at its time, or earlier by a hint
 * </pre>
 *
 * <p>All of this only saves time and commands. Votes alone decide who has the lock.
 */
final class Wait {
  /** Which nodes the next request goes to. */
  private enum Whom {
    /** See {@link #nodeToQueueAt}. */
    ALL_UNLESS_OTHERS_WANT,
    /** The home node, for others want the lock. */
    HOME,
    /** The home node, which admits too early: see {@link #afterToken}. */
    DOUBTED_HOME,
    /** All nodes, also if others want the lock. */
    ALL
  }

  /** Each state is left by one kind of event: the next request, a reply, the verdict, or time. */
  private sealed interface State {
    /** While a request is under way, what comes of it decides. */
    default Whom whom() {
      return Whom.ALL_UNLESS_OTHERS_WANT;
    }
  }

  /** Asks as soon as this process does not hold the lock. */
  private record Ready(Whom whom) implements State {}

  /**
   * One node is asked to queue this process. If it does not reply, the next home node is asked.
   *
   * @param hinted whether a release hint came meanwhile; it may have overtaken the reply
   */
  private record EnteringQueue(QueueRequest request, boolean hinted) implements State {}

  /** All nodes are asked for the lock. What comes next depends on the verdict. */
  private record AskingAll(AcquireRound round) implements State {}

  /**
   * Asks again at this time: it is queued, or backs off.
   *
   * @param heedsHints whether a hint may end the sleep earlier
   */
  private record Asleep(long untilNanos, boolean heedsHints, Whom whom) implements State {}

  private static final State AT_FIRST = new Ready(Whom.ALL_UNLESS_OTHERS_WANT);

  static final long MAX_PAUSE_NANOS = 1_000_000_000;

  /**
   * How often this process may be refused at its turn. A home node that admits while others hold
   * the lock has lost its key.
   */
  private static final int TURNS_LIMIT = 2;

  private final Nodes nodes;
  private final HomeNode home;
  private final Randomness random;

  /** The head that asked last, also after it has left; null before the first request. */
  private @Nullable Waiter waiter;

  private State state = AT_FIRST;
  private Place place = Place.NONE;

  /** The newest round; null if it cannot show a leftover key, or has led to a search for one. */
  private @Nullable AcquireRound lastVotes;

  /**
   * Fair mode: the request that queues this process for its next caller while it holds the lock.
   * Without a place the release wakes another process, although this caller may have come first.
   */
  private @Nullable QueueRequest early;

  // Setbacks. Each makes this wait more careful with what the home node and hints say.

  /** How often this process was refused at its turn. */
  private int turnsInVain;

  /** The last pause; the next one is longer. 0 if there was none. */
  private long pauseNanos;

  /** Whether the newest request to be queued failed. */
  private boolean queueFailed;

  /** Whether the lock was held after a hint, and this process had no turn since. */
  private boolean hintInVain;

  // What this process has learned of the lock. It outlives a wait.

  /** Why the sleep ends, or why the last one ended: a hint may overtake its release. */
  private WakeUp cause = WakeUp.PAUSE;

  /** When the keys of a quorum can have expired, as the newest refused round says. */
  private long quorumFreeNanos;

  /** The highest token of a lease that had ended, when this process was admitted. */
  private long endedToken;

  Wait(Nodes nodes, HomeNode home, Randomness random) {
    this.nodes = nodes;
    this.home = home;
    this.random = random;
  }

  /** The head has left, and the next one does not wait in the same way. */
  void end() {
    waiter = null; // The lease of a caller that was granted must not be reachable here.
    state = AT_FIRST;
    place = Place.NONE;
    lastVotes = null;
    turnsInVain = 0;
    pauseNanos = 0;
    queueFailed = false;
    hintInVain = false;
  }

  /** The head has the lock. The votes of its round may show a leftover key to the next head. */
  void granted() {
    AcquireRound votes = lastVotes;
    end();
    lastVotes = votes;
  }

  // The head, and its requests.

  /** The head asks now: the one that asked before, or the next. */
  void askedBy(Waiter head) {
    home.use(head.options);
    early = waiter == head ? early : null; // It was for the first question of its caller only.
    waiter = head;
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

  /** Whether a round or a request to be queued is under way. */
  boolean isAsking() {
    return state instanceof AskingAll || state instanceof EnteringQueue;
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
   * All nodes are asked. The votes of two rounds are never added up: each round has a lease id and
   * a token of its own, and a grant of an earlier token does not say that the node accepts the
   * later one.
   */
  void begin(AcquireRound round) {
    lastVotes = round;
    state = new AskingAll(round);
  }

  // Sleep.

  boolean isAsleep(long now) {
    return state instanceof Asleep sleep && sleep.untilNanos - now > 0;
  }

  void deadlines(NextWake wake) {
    if (state instanceof Asleep sleep) {
      wake.at(sleep.untilNanos);
    } else if (state instanceof EnteringQueue entering) {
      wake.at(entering.request.deadlineNanos);
    } else if (state instanceof AskingAll asking) {
      wake.at(asking.round.wakeNanos());
    }
  }

  /** Ends the sleep; returns its cause, or null if there was no sleep. */
  @Nullable WakeUp wake() {
    WakeUp ended = state instanceof Asleep ? cause : null;
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
    cause = why;
  }

  private boolean heedsHints() {
    return state instanceof Asleep sleep && sleep.heedsHints;
  }

  /**
   * A hint: ends the sleep by then, if that is earlier than planned, and asks these nodes. Without
   * a place it asks all nodes, which must be able to grant: a single try has one round left.
   */
  private void shortenSleep(long untilNanos, Whom whom) {
    boolean useful = place.node() >= 0 || nodes.hasQuorum();
    if (useful && heedsHints() && isAsleep(untilNanos)) {
      sleep(untilNanos, WakeUp.HINT, true, whom);
    }
  }

  /** Nodes keep the keys of the last lease until then, and no hint changes that. */
  void keepTaken(long untilNanos) {
    sleep(untilNanos, WakeUp.PAUSE, false, state.whom());
  }

  /** Too many rounds are under way: asks later. */
  void backOffUntil(long at) {
    sleep(at, state instanceof Asleep ? cause : WakeUp.PAUSE, true, state.whom());
  }

  /** Each pause is longer than the one before. */
  private void pause(long now, long first, boolean hints, Whom whom) {
    pauseNanos = Math.min(MAX_PAUSE_NANOS, pauseNanos == 0 ? first : 2 * pauseNanos);
    sleep(now + (long) (pauseNanos * (0.5 + random.next())), WakeUp.PAUSE, hints, whom);
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
    return state.whom() == Whom.ALL && place.isFirst() && cause == WakeUp.HINT;
  }

  /** See {@link LockRequest.Enqueue#afterToken}; for one request, then the lease may be over. */
  long afterToken() {
    return state.whom() == Whom.DOUBTED_HOME ? endedToken + 1 : 0;
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
        quorumFreeNanos = r.quorumFreeNanos(now);
        turnsInVain += r.atTurn ? 1 : 0;
        Whom whom = isHomeWrong() ? Whom.DOUBTED_HOME : Whom.HOME;
        if (turnsInVain > 1 || waiter().singleTry) {
          pause(now, home.roundTripNanos(), !isHomeWrong(), whom);
        } else {
          state = new Ready(whom);
        }
      }
      // No other client has won: asks all nodes again, after growing pauses.
      default -> pause(now, waiter().options.nodeTimeout().toNanos() / 2, true, Whom.ALL);
    }
  }

  /** Whether the home node says that it is the turn of this process, but others hold the lock. */
  private boolean isHomeWrong() {
    return turnsInVain > TURNS_LIMIT;
  }

  // What comes of a request to be queued.

  /** The node does not reply for longer than usual: the next in order takes its place. */
  void noReply(QueueRequest request) {
    // In fair mode it counts as silent: the next in order takes its place; see HomeNode.pick.
    nodes.blame(1L << request.node, waiter().options.fair());
    state = new Ready(Whom.HOME);
  }

  /**
   * The node is down or fails, and the next in order takes its place. It may vote all the same, and
   * so count as well again: from the second time on all nodes are asked, or a process that this
   * node cannot queue would never ask for the lock. The pause keeps it from asking without end.
   */
  void notQueued(QueueRequest request, long now) {
    nodes.blame(1L << request.node, true);
    pause(now, home.roundTripNanos(), true, queueFailed ? Whom.ALL : Whom.HOME);
    queueFailed = true;
  }

  /** It is the turn of this process, as the node says. */
  void admitted(QueueRequest request, NodeReply reply) {
    queueFailed = false;
    hintInVain = false;
    endedToken = reply.code() == Code.ADMITTED ? reply.fence() : 0;
    place = place.admitted(request);
  }

  /** The process is queued: sleeps until its turn. Returns whether it is the first, and waits. */
  boolean queued(QueueRequest request, NodeReply reply, long now) {
    queueFailed = false;
    place = Place.queued(request, reply);
    boolean held = reply.code() == Code.HELD;
    long free = place.freeNanos(reply, quorumFreeNanos, home, now);
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
    return r != null && r.freeBeside(node) >= r.members.quorum() && !waiter().options.fair();
  }

  /**
   * Sleeps until a hint, the poll, or {@code free} if it {@code asksWhenFree}. At the poll the
   * first has heard nothing from the home node, and asks all nodes.
   */
  private void sleepUntilCalled(long free, boolean asksWhenFree, long now) {
    boolean wokenByHint = cause == WakeUp.HINT;
    boolean hinted = state instanceof EnteringQueue entering && entering.hinted();
    LockOptions options = waiter().options;
    long pollAt = place.pollNanos(options, random, now);
    boolean expiry = asksWhenFree && free - pollAt < 0;
    Whom whom = !expiry && place.isFirst() && !options.fair() ? Whom.ALL : Whom.HOME;
    sleep(expiry ? free : pollAt, expiry ? WakeUp.EXPIRY : WakeUp.POLL, true, whom);
    if (hinted) {
      onReleaseHint(false, now);
    } else if (wokenByHint && place.isFirst() && !hintInVain) {
      hintInVain = true;
      // The hint may have overtaken the release on its way to the home node. Asks once more, for
      // where invalidations are lost, nothing else would tell of it.
      askHomeBy(now + fewRoundTrips());
    }
  }

  // Hints. They may come at any time, also without a head.

  /** Its wake key was written: it is its turn; or it is far back, and those before may be dead. */
  void onTurn(long now) {
    if (isHomeWrong()) {
      askHomeBy(now + pauseNanos);
    } else if (place.isFar()) {
      askHomeBy(now);
    } else if (heedsHints()) {
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
