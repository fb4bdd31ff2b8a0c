package dev.redlock.internal.protocol;

import dev.redlock.AcquireVerdict;
import dev.redlock.LockOptions;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import java.util.List;

/**
 * Serves the head of the local queue: starts its rounds and its requests to be queued, judges them,
 * and rolls rounds back. An uncontended acquire is one round. A contended one first enters the
 * queue of the home node; see {@link Wait}.
 *
 * <p>Each round has a lease id and a token of its own. If only the token was the obstacle, the
 * round is rolled back and one more follows at once, also for a single try: the lock is free.
 */
final class Acquirer {
  private static final long MIN_ROUND_NANOS = 1_000_000;

  private final LockKeys keys;
  private final Nodes nodes;
  private final Randomness random;
  private final List<Effect> effects;
  private final TokenChoice tokens;
  private final HomeNode home;
  private final Turn turn;
  private final QueuePlaces places;
  private final PendingReleases pendingReleases;

  private final Wait wait;

  /** What comes of an event for the head. */
  enum Outcome {
    /** The nodes are being asked, or the process sleeps. */
    WAITS,
    WON,
    /** A single try does not ask again. */
    REFUSED
  }

  Acquirer(
      LockKeys keys,
      Nodes nodes,
      Randomness random,
      List<Effect> effects,
      TokenChoice tokens,
      HomeNode home,
      Turn turn,
      QueuePlaces places,
      PendingReleases pendingReleases,
      Wait wait) {
    this.keys = keys;
    this.nodes = nodes;
    this.random = random;
    this.effects = effects;
    this.tokens = tokens;
    this.home = home;
    this.turn = turn;
    this.places = places;
    this.pendingReleases = pendingReleases;
    this.wait = wait;
  }

  // Asking.

  /**
   * Too many rounds are under way: the head waits for about as long as a round takes, but not if a
   * waiter of this queue would then be left without the time for two rounds.
   */
  boolean backsOff(Waiter head, long nearestDeadline, long now) {
    double rounds = head.singleTry || wait.isAtTurn() ? 0 : nodes.limiter().backoff();
    if (rounds == 0) {
      return false;
    }
    long round = Math.max(MIN_ROUND_NANOS, home.roundTripNanos());
    long at = now + (long) (rounds * round * (0.5 + random.next()));
    if (at + 2 * head.options.nodeTimeout().toNanos() - nearestDeadline > 0) {
      return false;
    }
    wait.backOffUntil(at);
    return true;
  }

  /** Enters the queue of the home node if others want the lock, else asks all nodes. */
  Outcome ask(Waiter head, long now, long wall) {
    WakeUp cause = wait.wake();
    if (cause != null) {
      effects.add(new Effect.Woken(cause));
    }
    boolean turnCame = wait.isAtTurn();
    QueueRequest early = wait.earlyFor(head);
    wait.askedBy(head);
    // A single try asks all nodes: a leftover key on the home node must not refuse what a quorum
    // would grant.
    int node = head.singleTry ? -1 : wait.nodeToQueueAt(turn, now);
    if (node < 0) {
      return begin(turnCame, now, wall);
    }
    if (early == null) {
      effects.add(new Effect.Attempted(true));
      wait.enter(sendEnqueue(head, node, wait.afterToken(), false, now));
      return Outcome.WAITS;
    }
    wait.enter(early);
    NodeReply reply = early.reply();
    return reply == null ? Outcome.WAITS : onQueueReply(early, reply, now, wall);
  }

  /** Asks for the lock under a new lease id. */
  private Outcome begin(boolean atTurn, long now, long wall) {
    AcquireRound r = newRound(tokens.propose(now), atTurn, now, wall);
    LockOptions options = wait.waiter().options;
    // A minimum hold may keep the keys for long after the release, and nothing fills them then.
    if (options.majorityFirst()
        && options.minimumHold().toNanos() == 0
        && !atTurn
        && !turn.othersWant()) {
      r.keepBack(~home.chooseMajority(now));
    }
    return start(r, now, wall);
  }

  /**
   * Asks the node to queue this process for the caller.
   *
   * @param early whether this process still holds the lock
   */
  private QueueRequest sendEnqueue(Waiter w, int node, long afterToken, boolean early, long now) {
    long deadline = now + home.patienceWith(node);
    QueueRequest q = new QueueRequest(nodes, node, now, deadline, early ? w : null);
    effects.add(new Effect.Send(q, places.enqueue(w, node, afterToken, now), 1L << node));
    return q;
  }

  /** Fair mode: queues this process for its next caller while it holds the lock. */
  void queueEarly(Waiter next, long now) {
    int node = home.node();
    QueueRequest early = wait.earlyFor(next);
    // The process counts as alive for a lease time there: it does not poll while it holds the lock.
    boolean known =
        early != null && now - early.sentNanos() < next.options.leaseTime().toNanos() / 2;
    if (!known && node >= 0) {
      wait.queuedEarly(sendEnqueue(next, node, 0, true, now));
    }
  }

  private AcquireRound newRound(long token, boolean atTurn, long now, long wall) {
    Waiter w = wait.waiter();
    LockOptions options = w.options;
    int node = home.node();
    LockRequest.QueueEntry entry =
        node >= 0 && (options.fair() || atTurn || places.isQueued())
            ? places.entry(w, node, atTurn, now)
            : null;
    LockRequest.Acquire request =
        new LockRequest.Acquire(
            keys, random.leaseId(), token, options.leaseTime().toMillis(), entry);
    nodes.limiter().began();
    AcquireRound r = new AcquireRound(nodes, request, options, atTurn, node, now, wall);
    // A single try needs it only if a vote says so.
    r.needsHome |= !w.singleTry && turn.needsHome(now);
    return r;
  }

  private Outcome start(AcquireRound r, long now, long wall) {
    wait.begin(r);
    effects.add(new Effect.Attempted(false));
    if (r.decide(now, wall, false) != AcquireVerdict.UNDECIDED) {
      r.neverSent();
      return judged(r, now, wall);
    }
    wait.waiter().rounds++;
    effects.add(new Effect.Send(r, r.request, r.recipients.mask()));
    return Outcome.WAITS;
  }

  // The queue.

  /** The home node has replied to a request to be queued. */
  Outcome onQueueReply(QueueRequest q, NodeReply reply, long now, long wall) {
    q.record(q.node, reply);
    if (q != wait.entering()) {
      return Outcome.WAITS; // Sent by queueEarly, listenElsewhere or keepPlace, or given up.
    }
    switch (reply.code()) {
      case ADMITTED -> {
        wait.admitted(q, reply);
        return begin(true, now, wall);
      }
      case HELD, QUEUED -> {
        if (q.isFirstAfterOwnLease()) {
          // Held by this process, which has released it since. Others may have come meanwhile.
          wait.admitted(q, reply);
          return begin(false, now, wall);
        }
        turn.heldByOthers();
        if (wait.queued(q, reply, now)) {
          listenElsewhere(q.node, now);
        }
      }
      default -> wait.notQueued(q, now);
    }
    return Outcome.WAITS;
  }

  /**
   * The first of the queue waits for the holder's release. If the home node hangs meanwhile, the
   * invalidation of the lock key by another node reports the release.
   */
  private void listenElsewhere(int queuedAt, long now) {
    int node = nodes.healthyBeside(queuedAt);
    if (node >= 0) {
      QueueRequest listen = new QueueRequest(nodes, node, now, now, null);
      effects.add(new Effect.Send(listen, places.listen(node), 1L << node));
    }
  }

  // Judging.

  /** A vote came for the round under way. */
  Outcome onReply(AcquireRound r, int node, NodeReply reply, long now, long wall) {
    r.onReply(node, reply, now, wall);
    return judged(r, now, wall);
  }

  Outcome onTimer(long now, long wall) {
    QueueRequest q = wait.entering();
    if (q != null && q.deadlineNanos - now <= 0) {
      wait.noReply(q);
    }
    AcquireRound r = wait.round();
    if (r == null) {
      return Outcome.WAITS;
    }
    r.onTimer(now, wall);
    return judged(r, now, wall);
  }

  private Outcome judged(AcquireRound r, long now, long wall) {
    if (r.verdict() == AcquireVerdict.UNDECIDED) {
      return askRest(r, now, wall);
    }
    leaveLimit(r, now);
    if (r.verdict() == AcquireVerdict.ACQUIRED) {
      return Outcome.WON;
    }
    if (r.verdict() == AcquireVerdict.STALE) {
      // Only one more round follows at once, or two clients leap-frog.
      if (!r.followsStale) {
        undo(wait.waiter(), r, now);
        AcquireRound next = newRound(tokens.proposeAfter(r, now), r.atTurn, now, wall);
        next.followsStale = true;
        return start(next, now, wall);
      }
      r.overtaken(tokens.acceptLater(r, now));
    }
    return refused(r, now);
  }

  /** Asks the nodes that were kept back, if the others do not suffice. */
  private Outcome askRest(AcquireRound r, long now, long wall) {
    boolean keptBack = r.recipients.keptBack() != 0;
    long rest = r.askRest(now);
    if (rest != 0) {
      effects.add(new Effect.Send(r, r.request, rest));
    } else if (keptBack && r.recipients.keptBack() == 0) {
      r.decide(now, wall, false); // None of them votes any more.
      return judged(r, now, wall);
    }
    return Outcome.WAITS;
  }

  /** The round is over, and counts in the limit no more. */
  void leaveLimit(AcquireRound r, long now) {
    nodes.limiter().ended(r.verdict(), r.sentNanos(), r.timeoutNanos, nodes, now);
  }

  // Refusals.

  /** Undoes a round that is not won. */
  void rollBack(AcquireRound r, long now) {
    pendingReleases.rollBack(r, now);
  }

  /** The round got no quorum: undoes it on all nodes; the head waits for the right time. */
  private Outcome refused(AcquireRound r, long now) {
    Waiter head = wait.waiter();
    // A single try is repeated if perhaps nobody has won, or if the set has changed; only once.
    boolean inVain = r.isInconclusive() || !r.members.isOfSameSet(nodes.members());
    boolean asksAgain = !head.singleTry || (inVain && head.refusedBy == null);
    head.refusedBy = r;
    if (r.verdict() == AcquireVerdict.HELD) {
      turn.heldByOthers();
    }
    undo(head, r, now);
    if (!asksAgain) {
      return Outcome.REFUSED;
    }
    wait.refused(r, now);
    return Outcome.WAITS;
  }

  /** Undoes a round, after which the head may ask again. */
  private void undo(Waiter head, AcquireRound r, long now) {
    keepPlace(head, r, now);
    rollBack(r, now);
  }

  /**
   * Called before the roll-back. If the home node has granted, the roll-back frees the lock there
   * and wakes the first of the queue. This process takes its place before that: else it would be
   * overtaken by those behind it.
   */
  private void keepPlace(Waiter head, AcquireRound r, long now) {
    int node = home.node();
    if (node >= 0 && !head.singleTry && r.mayBeGranted(node)) {
      sendEnqueue(head, node, 0, false, now);
    }
  }
}
