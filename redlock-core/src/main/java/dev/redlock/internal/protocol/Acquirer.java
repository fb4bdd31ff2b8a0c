package dev.redlock.internal.protocol;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Serves the head of the local queue: starts the rounds of its {@link Attempt}, and rolls them
 * back. An uncontended attempt is one round. A contended one first enters the queue of the home
 * node; see {@link WaitPolicy}.
 *
 * <p>Methods that ask or judge return the round that ended the attempt's lease id, won or refused;
 * or null while the nodes are being asked, or the process sleeps.
 */
final class Acquirer {
  private final LockKeys keys;
  private final Nodes nodes;
  private final Randomness random;
  private final List<Effect> effects;
  private final TokenChoice tokens;
  private final WaitPolicy waitPolicy;
  private final Turn turn;
  private final QueuePlaces places;
  private final PendingReleases pendingReleases;
  private @Nullable Attempt attempt;

  /** The request to be queued that is under way, or null. */
  private @Nullable QueueRequest queueing;

  /**
   * Fair mode: the request that queues this process for its next caller while it holds the lock.
   * Without a place the release wakes another process, although this caller may have come first.
   */
  private @Nullable QueueRequest early;

  /** The newest request to be queued to which the home node replied HELD or QUEUED: for reports. */
  private @Nullable QueueRequest queued;

  Acquirer(
      LockKeys keys,
      Nodes nodes,
      Randomness random,
      List<Effect> effects,
      WaitPolicy waitPolicy,
      Turn turn,
      QueuePlaces places,
      PendingReleases pendingReleases) {
    this.keys = keys;
    this.nodes = nodes;
    this.random = random;
    this.effects = effects;
    tokens = new TokenChoice(nodes);
    this.waitPolicy = waitPolicy;
    this.turn = turn;
    this.places = places;
    this.pendingReleases = pendingReleases;
  }

  TokenChoice tokens() {
    return tokens;
  }

  /** The round under way, or null. */
  @Nullable AcquireRound round() {
    Attempt a = attempt;
    return a == null ? null : a.round();
  }

  /** Whether a round or a request to be queued is under way. */
  boolean isAsking() {
    return queueing != null || round() != null;
  }

  /** The newest round that was started for the waiter, or null. */
  @Nullable AcquireRound roundFor(Waiter w) {
    Attempt a = attempt;
    return a == null || !a.isFor(w) ? null : a.newest();
  }

  /** The request to be queued that a report on the waiter shows, or null. */
  @Nullable QueueRequest queuedFor(Waiter w) {
    Attempt a = attempt;
    if (a == null || !a.isFor(w)) {
      return null;
    }
    return queued != null ? queued : queueing;
  }

  boolean isNewest(AcquireRound r) {
    Attempt a = attempt;
    return a != null && a.newest() == r;
  }

  /** The next attempt begins without a history of refusals. */
  void reset() {
    attempt = null;
    queueing = null;
    queued = null;
    early = null;
    waitPolicy.reset();
  }

  void deadlines(NextWake wake) {
    QueueRequest q = queueing;
    AcquireRound r = round();
    if (q != null) {
      wake.at(q.deadlineNanos);
    } else if (r != null) {
      wake.at(r.wakeNanos());
    }
  }

  // Asking.

  /** Enters the queue of the home node if others want the lock, else asks all nodes. */
  @Nullable AcquireRound ask(Waiter head, long now, long wall) {
    WakeUp cause = waitPolicy.wake();
    if (cause != null) {
      effects.add(new Effect.Woken(cause));
    }
    Attempt a = attempt(head);
    waitPolicy.asked(head.config);
    boolean turnCame = waitPolicy.isAtTurn();
    // A single try asks all nodes: a leftover key on the home node must not refuse what a quorum
    // would grant.
    int home = head.singleTry ? -1 : waitPolicy.nodeToQueueAt(turn, now);
    QueueRequest place = earlyFor(head);
    early = null;
    if (home < 0) {
      return begin(a, turnCame, now, wall);
    }
    if (place == null) {
      enqueue(a, home, now);
      return null;
    }
    queueing = place;
    NodeReply reply = place.reply();
    return reply == null ? null : onQueueReply(place, reply, now, wall);
  }

  /** Asks all nodes under a new lease id. */
  private @Nullable AcquireRound begin(Attempt a, boolean atTurn, long now, long wall) {
    String leaseId = random.leaseId();
    return acquire(a, leaseId, tokens.propose(now), null, atTurn, now, wall);
  }

  /** Asks all nodes to give the keys of the predecessor to the head. */
  @Nullable AcquireRound handOff(Waiter head, HeldLease predecessor, long now, long wall) {
    waitPolicy.asked(head.config);
    long token = tokens.proposeAbove(now);
    return acquire(attempt(head), random.leaseId(), token, predecessor, false, now, wall);
  }

  private Attempt attempt(Waiter head) {
    Attempt a = attempt;
    if (a == null || !a.isFor(head)) {
      a = new Attempt(head, a);
      attempt = a;
    }
    return a;
  }

  private void enqueue(Attempt a, int home, long now) {
    Waiter w = a.waiter();
    long deadline = now + waitPolicy.patienceWith(home);
    QueueRequest q = new QueueRequest(nodes, home, now, deadline, null);
    queueing = q;
    effects.add(new Effect.Attempted(true));
    LockRequest request = places.enqueue(w, home, waitPolicy.takeAfterToken(), now);
    effects.add(new Effect.Send(q, request, 1L << home));
  }

  /** Fair mode: queues this process for its next caller while it holds the lock. */
  void queueEarly(Waiter next, long now) {
    int home = waitPolicy.home();
    QueueRequest place = earlyFor(next);
    // The process counts as alive for a lease time there: it does not poll while it holds the lock.
    boolean known = place != null && now - place.sentNanos() < next.config.ttlNanos() / 2;
    if (known || home < 0) {
      return;
    }
    long deadline = now + waitPolicy.patienceWith(home);
    QueueRequest q = new QueueRequest(nodes, home, now, deadline, next);
    early = q;
    effects.add(new Effect.Send(q, places.enqueue(next, home, 0, now), 1L << home));
  }

  /** Fair mode: whether no caller of another process came before this one, as far as is known. */
  boolean isFirst(Waiter next) {
    QueueRequest place = earlyFor(next);
    return place != null && place.isFirstAfterOwnLease();
  }

  private @Nullable QueueRequest earlyFor(Waiter w) {
    QueueRequest q = early;
    return q != null && q.next == w ? q : null;
  }

  private @Nullable AcquireRound acquire(
      Attempt a,
      String leaseId,
      long token,
      @Nullable HeldLease predecessor,
      boolean atTurn,
      long now,
      long wall) {
    Waiter w = a.waiter();
    LockConfig config = w.config;
    boolean fair = config.fair();
    int home = waitPolicy.home();
    LockRequest.QueueEntry entry =
        home >= 0 && (fair || atTurn || (predecessor == null && places.isQueued()))
            ? places.entry(w, home, atTurn, now)
            : null;
    LockRequest.Acquire request =
        LockRequest.Acquire.of(keys, leaseId, token, config.ttlMillis()).withQueueEntry(entry);
    if (predecessor != null) {
      request = request.successorOf(predecessor.id(), predecessor.grantToken());
    }
    nodes.limiter().began();
    AcquireRound r = new AcquireRound(nodes, request, config, predecessor, atTurn, home, now, wall);
    if (!w.singleTry && turn.needsHome(now)) { // A single try needs it only if a vote says so.
      r.needHome();
    }
    return start(a, r, now, wall);
  }

  private @Nullable AcquireRound start(Attempt a, AcquireRound r, long now, long wall) {
    a.begin(r);
    effects.add(new Effect.Attempted(false));
    if (r.decide(now, wall, false) != AcquireVerdict.UNDECIDED) {
      r.neverSent();
      return judged(r, now, wall);
    }
    effects.add(new Effect.Send(r, r.request, r.sentMask()));
    return null;
  }

  // The queue.

  /** The home node has replied to a request to be queued. */
  @Nullable AcquireRound onQueueReply(QueueRequest q, NodeReply reply, long now, long wall) {
    q.record(q.node, reply);
    Attempt a = attempt;
    if (q != queueing || a == null) {
      return null; // Sent by queueEarly, listenElsewhere or keepPlace, or given up.
    }
    queueing = null;
    switch (reply.code()) {
      case ADMITTED -> {
        waitPolicy.admitted(q, reply);
        return begin(a, true, now, wall);
      }
      case HELD, QUEUED -> {
        if (q.isFirstAfterOwnLease()) {
          waitPolicy.admitted(q, reply); // Held by this process, which has released it since.
          return begin(a, true, now, wall);
        }
        queued = q;
        turn.heldByOthers();
        boolean first = waitPolicy.queued(q, reply, a.waiter().config, now);
        if (a.suspectsLeftoverAt(q.node, nodes.quorum())) {
          waitPolicy.expectLeftover(now);
        } else if (first) {
          listenElsewhere(q.node, now);
        }
        return null;
      }
      default -> {
        waitPolicy.notQueued(q, now);
        return null;
      }
    }
  }

  /**
   * The first of the queue waits for the holder's release. If the home node hangs meanwhile, the
   * invalidation of the lock key by another node reports the release.
   */
  private void listenElsewhere(int home, long now) {
    int node = nodes.healthyBeside(home);
    if (node >= 0) {
      QueueRequest listen = new QueueRequest(nodes, node, now, now, null);
      effects.add(new Effect.Send(listen, places.listen(node), 1L << node));
    }
  }

  // Judging.

  /** A vote came for the round under way. */
  @Nullable AcquireRound onReply(AcquireRound r, int node, NodeReply reply, long now, long wall) {
    r.onReply(node, reply, now, wall);
    return judged(r, now, wall);
  }

  @Nullable AcquireRound onTimer(long now, long wall) {
    QueueRequest q = queueing;
    if (q != null && q.deadlineNanos - now <= 0) {
      queueing = null;
      waitPolicy.noReply(q);
    }
    AcquireRound r = round();
    if (r == null) {
      return null;
    }
    r.onTimer(now, wall);
    return judged(r, now, wall);
  }

  private @Nullable AcquireRound judged(AcquireRound r, long now, long wall) {
    Attempt a = attemptOf(r);
    switch (r.verdict()) {
      case UNDECIDED -> {
        return null;
      }
      case WON -> end(r, now);
      case STALE -> {
        if (r.isHandOff()) {
          return r;
        }
        if (a.takesSecondToken()) {
          end(r, now);
          long token = tokens.proposeAfter(r, now);
          return acquire(a, r.request.leaseId(), token, null, r.atTurn, now, wall);
        }
        r.overtaken(tokens.acceptLater(r, now));
      }
      default -> {}
    }
    return r;
  }

  private Attempt attemptOf(AcquireRound r) {
    Attempt a = attempt;
    if (a == null || a.newest() != r) {
      throw new IllegalStateException("no attempt for a round on " + keys);
    }
    return a;
  }

  /** The waiter of the round has the lock. */
  void served(AcquireRound r) {
    attemptOf(r).served();
    queued = null;
  }

  /** The round is over. */
  void end(AcquireRound r, long now) {
    attemptOf(r).end();
    nodes.limiter().ended(r.verdict(), r.sentNanos(), r.timeoutNanos, nodes, now);
  }

  // Refusals.

  /** Undoes a round that is not won. */
  void rollBack(AcquireRound r, long now) {
    pendingReleases.rollBack(r, now);
  }

  /**
   * The head was refused: undoes the round, and decides when the head asks again.
   *
   * @return false if the head does not ask again, because it is a single try
   */
  boolean refused(AcquireRound r, long now) {
    Attempt a = attemptOf(r);
    keepPlace(a.waiter(), r, now);
    rollBack(r, now);
    if (r.isHandOff()) {
      // The hand-off failed. No node has refused an ordinary attempt of this waiter yet.
      a.forgetVotes();
      if (r.verdict() == AcquireVerdict.HELD) {
        waitPolicy.expectOthers(); // Fair mode: others are queued.
      }
      return true;
    }
    if (!a.mayContinue(r)) {
      return false;
    }
    waitPolicy.refused(r, now);
    return true;
  }

  /**
   * Before the roll-back. If the home node has granted, the roll-back frees the lock there and
   * wakes the first of the queue. This process takes its place before that: else it would be
   * overtaken by those behind it.
   */
  private void keepPlace(Waiter head, AcquireRound r, long now) {
    int home = waitPolicy.home();
    if (home >= 0 && !head.singleTry && !r.isHandOff() && r.mayBeGranted(home)) {
      QueueRequest place = new QueueRequest(nodes, home, now, now, null);
      effects.add(new Effect.Send(place, places.enqueue(head, home, 0, now), 1L << home));
    }
  }
}
