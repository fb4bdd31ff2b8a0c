package dev.redlock.internal.protocol;

import dev.redlock.internal.protocol.WaitState.AskingAll;
import dev.redlock.internal.protocol.WaitState.Asleep;
import dev.redlock.internal.protocol.WaitState.EnteringQueue;
import dev.redlock.internal.protocol.WaitState.Ready;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
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
 * of a process that misses its turn, see {@link Place}.
 *
 * <p>All of this only saves time and commands. Votes alone decide who has the lock.
 */
final class Wait {
  /**
   * How often in a row this process may be refused at its turn. A home node that admits while
   * others hold the lock has lost its key.
   */
  private static final int REFUSED_AT_TURN_LIMIT = 2;

  static final long MAX_PAUSE_NANOS = 1_000_000_000;

  private final Nodes nodes;
  private final Randomness random;
  private final HomeNode home;
  private WaitState state = new Ready();
  private Whom whom = Whom.ALL_UNLESS_OTHERS_WANT;
  private Place place = Place.none(0);

  /** Why this sleep ends, or why the last one ended. */
  private WakeUp cause = WakeUp.PAUSE;

  /** The head that asked last; null before the first request. */
  private @Nullable Waiter waiter;

  /** The newest round for that head; before the first request, the round before, for late votes. */
  private @Nullable AcquireRound newest;

  /** The newest votes for this head or an earlier one that may show a leftover key; or null. */
  private @Nullable AcquireRound lastVotes;

  /** The newest request to be queued to which the home node replied HELD or QUEUED: for reports. */
  private @Nullable QueueRequest queued;

  /** Whether the lock was held after a hint, and this process had no turn since. */
  private boolean refusedAfterHint;

  /** Whether the newest request to be queued failed. */
  private boolean queueFailed;

  /** The last pause; the next one is longer. 0 if there was none. */
  private long pauseNanos;

  /** How often in a row this process was refused at its turn. */
  private int refusalsAtTurn;

  /** When the keys of a quorum can have expired, as the newest refused round says. */
  private long quorumFreeNanos;

  Wait(Nodes nodes, HomeNode home, Randomness random) {
    this.nodes = nodes;
    this.home = home;
    this.random = random;
  }

  /** The next wait, without this one's history of refusals. */
  Wait next() {
    Wait next = new Wait(nodes, home, random);
    // What was learned of the lock outlives a wait. A hint may still be ahead of its release.
    next.cause = cause;
    next.quorumFreeNanos = quorumFreeNanos;
    next.place = Place.none(place.endedToken());
    return next;
  }

  /** The same after a grant. The lease must not be reachable here, so the waiter is dropped. */
  Wait nextAfterGrant() {
    Wait next = next();
    next.newest = newest; // Records late votes until the next head asks.
    next.lastVotes = lastVotes; // They may show a leftover key to the next head, too.
    return next;
  }

  // The head, and its requests.

  /** The head asks now: the one that asked before, or the next. */
  void serve(Waiter head) {
    home.asked(head.config);
    if (waiter != head) {
      waiter = head;
      newest = null;
    }
  }

  Waiter waiter() {
    return Objects.requireNonNull(waiter, "no head has asked");
  }

  /** The request to be queued that is under way, or null. */
  @Nullable QueueRequest entering() {
    return state instanceof EnteringQueue e ? e.request() : null;
  }

  /** The round under way, or null. */
  @Nullable AcquireRound round() {
    return state instanceof AskingAll a ? a.round() : null;
  }

  boolean isNewest(AcquireRound r) {
    return newest == r;
  }

  /** The newest round that was started for the waiter, or null. */
  @Nullable AcquireRound roundFor(Waiter w) {
    return waiter == w ? newest : null;
  }

  /** The request to be queued that a report on the waiter shows, or null. */
  @Nullable QueueRequest queuedFor(Waiter w) {
    return waiter != w ? null : queued != null ? queued : entering();
  }

  /** This node is asked to queue the process; the request may have been sent early. */
  void enter(QueueRequest request) {
    state = new EnteringQueue(request, false);
    whom = Whom.HOME;
  }

  /**
   * All nodes are asked. The votes of two rounds are never added up: each round has a token of its
   * own, and a grant of an earlier token does not say that the node accepts the later one. If a
   * later round of a lease id was sent to the same node, that round rolls back what the earlier one
   * left there.
   */
  void begin(AcquireRound round) {
    AcquireRound before = newest;
    if (before != null && before.request.leaseId().equals(round.request.leaseId())) {
      round.recipients.follow(before.recipients);
    }
    newest = round;
    lastVotes = round;
    state = new AskingAll(round);
    waiter().rounds++;
  }

  /** The round is over. */
  void end() {
    state = new Ready();
  }

  // Sleep.

  WaitState state() {
    return state;
  }

  /** Ends the sleep; returns its cause, or null if there was no sleep. */
  @Nullable WakeUp wake() {
    WakeUp ended = state instanceof Asleep ? cause : null;
    state = new Ready();
    return ended;
  }

  /** Sleeps until then, for this cause; with {@code hints}, a hint may end the sleep earlier. */
  void sleep(long untilNanos, WakeUp why, boolean hints) {
    state = new Asleep(untilNanos, hints);
    cause = why;
  }

  /** A hint: ends the sleep by then. Returns whether that is earlier than planned. */
  boolean wakeBy(long nanos) {
    boolean earlier = state.heedsHints() && !state.isOver(nanos);
    if (earlier) {
      sleep(nanos, WakeUp.HINT, true);
    }
    return earlier;
  }

  /** Too many rounds are under way: asks later. */
  void backOffUntil(long at) {
    sleep(at, state instanceof Asleep ? cause : WakeUp.PAUSE, true);
  }

  private void pause(long now, long first, boolean hints) {
    pauseNanos = Math.min(MAX_PAUSE_NANOS, pauseNanos == 0 ? first : 2 * pauseNanos);
    sleep(now + (long) (pauseNanos * (0.5 + random.next())), WakeUp.PAUSE, hints);
  }

  // Whom.

  /**
   * The node whose queue to enter before all are asked; −1 to ask all. If the home node is to
   * decide, all are asked at once, but not if that harms the first of its queue: if the home node
   * is far, the other nodes grant to this process first; if it sends no invalidations, the first
   * polls, and rarely finds it free.
   */
  int nodeToQueueAt(Turn turn, long now) {
    return switch (whom) {
      case ALL -> -1;
      case HOME, DOUBTED_HOME -> home.node();
      case ALL_UNLESS_OTHERS_WANT ->
          turn.othersWant() || (turn.needsHome(now) && !home.isNearAndWakes()) ? home.node() : -1;
    };
  }

  /** Whether a release has woken this process, so that the next round is its turn. */
  boolean isAtTurn() {
    return whom == Whom.ALL && place.isFirst() && cause == WakeUp.HINT;
  }

  /** See {@link LockRequest.Enqueue#afterToken}; for one request, then the lease may be over. */
  long afterToken() {
    return whom == Whom.DOUBTED_HOME ? place.endedToken() + 1 : 0;
  }

  // What comes of a round.

  /** The round was refused, and the head asks again: decides when and whom to ask. */
  void refused(AcquireRound r, long now) {
    switch (r.verdict()) {
      case HELD, COLLIDED -> {
        quorumFreeNanos = r.quorumFreeNanos(now);
        refusalsAtTurn += r.atTurn ? 1 : 0;
        if (refusalsAtTurn > 1) {
          // At first, the holder's release may still be on its way to the other nodes.
          pause(now, home.roundTripNanos(), !isHomeWrong());
        }
        whom = isHomeWrong() ? Whom.DOUBTED_HOME : Whom.HOME;
      }
      default -> {
        // No other client has won: asks all nodes again, after growing pauses.
        whom = Whom.ALL;
        pause(now, waiter().config.nodeTimeoutNanos() / 2, true);
      }
    }
  }

  /** The hand-off to the head was refused. No node has refused an ordinary round for it yet. */
  void handOffRefused(boolean held) {
    lastVotes = null; // They replaced the keys of the predecessor: they show no leftover keys.
    if (held) {
      whom = Whom.HOME; // Fair mode: others are queued.
    }
  }

  // What comes of a request to be queued.

  /** The node does not reply for longer than usual: the next in order takes its place. */
  void noReply(QueueRequest request) {
    // In fair mode it let the whole node timeout pass; see HomeNode.
    nodes.blame(1L << request.node, waiter().config.fair());
    state = new Ready();
  }

  /**
   * The node is down or fails, and the next in order takes its place. It may vote all the same, and
   * so count as well again: from the second time on all nodes are asked, or a process that this
   * node cannot queue would never ask for the lock. The pause keeps it from asking without end.
   */
  void notQueued(QueueRequest request, long now) {
    nodes.blame(1L << request.node, true);
    pause(now, home.roundTripNanos(), true);
    whom = queueFailed ? Whom.ALL : Whom.HOME;
    queueFailed = true;
  }

  /** It is the turn of this process, as the node says. */
  void admitted(QueueRequest request, NodeReply reply) {
    queueFailed = false;
    refusedAfterHint = false;
    place = new Place(request.node, 0, reply.fence());
  }

  /** The process is queued: sleeps until its turn. Returns whether it is the first, and waits. */
  boolean queued(QueueRequest request, NodeReply reply, long now) {
    queueFailed = false;
    queued = request;
    place = new Place(request.node, reply.othersQueued(), place.endedToken());
    boolean held = reply.code() == ReplyCode.HELD;
    long free = place.freeNanos(reply, quorumFreeNanos, home, now);
    sleepUntilCalled(free, !held || place.ahead() <= 1, now);
    if (suspectsLeftoverAt(request.node)) {
      // If the key on the home node outlives what is under way, all are asked.
      whom = Whom.ALL;
      sleep(now + fewRoundTrips(), WakeUp.PAUSE, true);
      return false;
    }
    return held && place.isFirst();
  }

  /** Whether a quorum was free beside the home node: its key may be a leftover. True once. */
  boolean suspectsLeftoverAt(int node) {
    AcquireRound r = lastVotes;
    if (r == null || r.freeBeside(node) < r.members.quorum() || waiter().config.fair()) {
      return false;
    }
    lastVotes = null;
    return true;
  }

  /** Sleeps until a hint, the poll, or {@code free} if the process is one of the {@code first}. */
  private void sleepUntilCalled(long free, boolean first, long now) {
    boolean wokenByHint = cause == WakeUp.HINT;
    boolean hinted = state instanceof EnteringQueue entering && entering.hinted();
    LockConfig config = waiter().config;
    long pollAt = place.pollNanos(config, random, now);
    boolean expiry = first && free - pollAt < 0;
    sleep(expiry ? free : pollAt, expiry ? WakeUp.EXPIRY : WakeUp.POLL, true);
    whom = !expiry && place.isFirst() && !config.fair() ? Whom.ALL : Whom.HOME;
    if (hinted) {
      onReleaseHint(false, now);
    } else if (wokenByHint && place.isFirst() && !refusedAfterHint) {
      refusedAfterHint = true;
      // The hint may have overtaken the release on its way to the home node. Asks once more, for
      // where invalidations are lost, nothing else would tell of it.
      askHomeBy(now + fewRoundTrips());
    }
  }

  // Hints. They may come at any time, also without a head.

  /** Its wake key was written: it is its turn, or far back: those before it may be dead. */
  void onTurn(long now) {
    if (isHomeWrong()) {
      askHomeBy(now + pauseNanos);
    } else if (place.isFar()) {
      askHomeBy(now);
    } else if (state.heedsHints()) {
      place = place.ahead(0);
      whom = Whom.ALL;
      sleep(now, WakeUp.HINT, true);
    }
  }

  /** Whether the home node says that it is the turn of this process, but others hold the lock. */
  private boolean isHomeWrong() {
    return refusalsAtTurn > REFUSED_AT_TURN_LIMIT;
  }

  /** It is the turn of the process before this one: passes it over if it is silent. */
  void onTurnBefore(long now) {
    place = place.ahead(Math.min(place.ahead(), 1));
    askHomeBy(now + home.turnPatience(place.node()));
  }

  /** A node reports a change of the lock key: matters to the first of the queue. */
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
      wakeBy(at); // A quorum may vote again. There is no place to lose, and perhaps no queue.
    } else if (node == place.node() || home.pick(false) != place.node()) {
      askHomeBy(at);
    }
  }

  private void askHomeBy(long at) {
    if (wakeBy(at) && whom != Whom.DOUBTED_HOME) {
      whom = Whom.HOME;
    }
  }

  private long fewRoundTrips() {
    return (long) ((4 + 2 * random.next()) * home.roundTripNanos());
  }
}
