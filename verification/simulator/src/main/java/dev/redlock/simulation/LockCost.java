package dev.redlock.simulation;

import dev.redlock.internal.protocol.Effect;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.List;

/**
 * What one lock of one client may cost: each request to a node needs a reason.
 *
 * <p>A client that retries without a pause, or that asks a failing node over and over, breaks no
 * rule about leases. It costs the nodes their time. So this rule counts what the client asks
 * between two answers to its callers (a grant, a refusal or a cancellation), because then one
 * caller is the head of the local queue and its back-off never starts again. The reasons:
 *
 * <ul>
 *   <li>A <b>round</b> asks each node once. A caller gets one round. Further rounds need a reply
 *       that admits the process, a hint or a change of a node's status, or time. A round may follow
 *       one whose token was refused at once, but not twice in a row.
 *   <li>A <b>request to be queued</b> follows a refused round, a home node that did not reply
 *       within its patience, a hint or a change of status, or time.
 *   <li><b>Time</b> allows one request for each fallback poll, which jitter shortens by 50 % at
 *       most, and one for each pause of the back-off. The pauses begin at about one round trip and
 *       double up to 1 s; jitter shortens them by half at most.
 *   <li>After a round to which <b>no node replied</b> the client pauses for half of the node
 *       timeout at first. No poll allows such a round.
 *   <li>A process keeps its <b>place</b> once for each round that was refused, and once for the
 *       next caller. In fair mode it renews the place of the next caller after each half of the
 *       lease time, or it would count as dead there. The first process of the queue listens to one
 *       other node, once for each request to be queued.
 * </ul>
 *
 * <p>So without other callers and without a fault, a pair of acquire and release costs one acquire
 * and one release on each node. {@link LeaseCost} bounds the requests that follow a grant.
 */
final class LockCost {
  /** One, and one more for a hint that came before the last answer. */
  private static final int FREE_ROUNDS = 2;

  private static final int FREE_QUESTIONS = 2;

  /**
   * Two for the next callers of fair mode. The others are for a round and a request to be queued
   * that began before the last answer.
   */
  private static final int FREE_PLACES = 4;

  /** Jitter of ± 50 % halves the longest pause of 1 s. */
  private static final long MAX_PAUSE_NANOS = Scenario.SECOND / 2;

  /** The round trip that a client assumes before its first reply. */
  private static final long FIRST_GUESS_NANOS = Scenario.MS;

  private static final long PATIENCE_NANOS = 10 * Scenario.MS;

  /** For how long the first of a queue may be silent at its turn, at least. */
  private static final long TURN_NANOS = 25 * Scenario.MS;

  /** The first and the longest pause after a node failed to execute a release. */
  private static final long FIRST_REPEAT_NANOS = 20 * Scenario.MS;

  private static final int FREE_REPEATS = 4;

  private final SimLock lock;
  private final Margins margins;
  private final long pollNanos;
  private final long firstPauseNanos;
  private final long timeoutNanos;
  private final long renewNanos;

  // Since the last answer to a caller.
  private long sinceMono;
  private long toldBefore;
  private int waitingBefore;
  private int rounds;
  private int unanswered;
  private int questions;
  private int places;
  private int admitted;
  private int overdue;
  private int turnsOfOthers;

  // Since the last grant, or since the first caller came.
  private int admittedSinceGrant;

  private int notQueued;
  private long wakesBefore;

  // The newest round, and the newest request to be queued.
  private String leaseId = "";

  /** Whether a node has refused its token; and whether it followed such a round at once. */
  private boolean stale;

  private boolean followsStale;
  private boolean answered = true;
  private boolean asksHome;
  private boolean queueing;
  private long queueingMono;

  /** Acks that were settled, for extensions that callers asked for. */
  private long settled;

  // By node: repeats of failed releases, since it confirmed one or its status changed.
  private final int[] repeats;
  private final long[] repeatsSinceMono;
  private final int[] repeatsChanges;

  LockCost(SimLock lock) {
    this.lock = lock;
    Scenario s = lock.world.scenario;
    margins = lock.world.margins;
    pollNanos = Math.max(1, s.shortestPollNanos() / 2);
    firstPauseNanos = Math.max(1, Math.min(s.delayNanos, FIRST_GUESS_NANOS / 2));
    timeoutNanos = s.shortestTimeoutNanos();
    renewNanos = s.options.fair() ? s.shortestLeaseNanos() / 2 : Long.MAX_VALUE;
    repeats = new int[s.nodes];
    repeatsSinceMono = new long[s.nodes];
    repeatsChanges = new int[s.nodes];
  }

  // Questions.

  void afterEvent(long mono) {
    List<Effect> effects = lock.machine.effects();
    int waiting = lock.machine.waiting();
    if (waitingBefore == 0 || waiting < waitingBefore) {
      restart(mono); // The first caller comes, or one gets its answer or gives up.
    }
    if (waitingBefore == 0) {
      forgetTurns();
    }
    waitingBefore = waiting;
    boolean asked = false;
    for (int i = 0; i < effects.size(); i++) {
      Effect effect = effects.get(i);
      if (effect instanceof Effect.Send send) {
        sent(send);
      } else if (effect instanceof Effect.Attempted attempt) {
        asked = true;
        attempted(attempt.homeOnly(), mono);
      } else if (effect instanceof Effect.End) {
        restart(mono);
      } else if (effect instanceof Effect.Granted) {
        forgetTurns();
      } else if (effect instanceof Effect.Settle) {
        settled++;
      } else if (effect instanceof Effect.ReleaseHint) {
        lock.client.told++; // The client notifies its other locks.
      }
    }
    if (asked) {
      check(mono);
    }
  }

  private void restart(long mono) {
    sinceMono = mono;
    toldBefore = lock.client.told;
    rounds = 0;
    unanswered = 0;
    questions = 0;
    places = 0;
    admitted = 0;
    overdue = 0;
    turnsOfOthers = 0;
  }

  private void forgetTurns() {
    admittedSinceGrant = 0;
    notQueued = 0;
    wakesBefore = lock.client.wakes;
  }

  private void attempted(boolean homeOnly, long mono) {
    if (queueing && mono - queueingMono >= Math.min(timeoutNanos, PATIENCE_NANOS)) {
      overdue++;
    }
    queueing = homeOnly;
    asksHome = homeOnly;
    if (homeOnly) {
      questions++;
      queueingMono = mono;
      return;
    }
    rounds++;
    if (!answered && rounds > 1) {
      unanswered++;
    }
    answered = false;
  }

  private void sent(Effect.Send send) {
    if (send.request() instanceof LockRequest.Acquire r) {
      if (r.leaseId().equals(leaseId)) {
        return; // The nodes that the round kept back.
      }
      followsStale = stale && !followsStale;
      rounds -= followsStale ? 1 : 0;
      stale = false;
      leaseId = r.leaseId();
    } else if (send.request() instanceof LockRequest.Enqueue) {
      places += asksHome ? 0 : 1;
      asksHome = false;
    } else if (send.request() instanceof LockRequest.Inspect) {
      places++;
    }
  }

  private void check(long mono) {
    if (lock.world.scenario.changesSets()) {
      return; // A changed record is a reason to ask, and the links do not show each of them.
    }
    long took = mono - sinceMono;
    long told = lock.client.told - toldBefore;
    long paid = took / pollNanos + Pauses.within(took, firstPauseNanos, MAX_PAUSE_NANOS);
    margins.require(
        Bound.ROUNDS,
        rounds,
        FREE_ROUNDS + admitted + told + paid + suspectedLeftovers(took),
        this);
    // Pauses after other failures may have come before, so the pauses of these rounds are twice as
    // long.
    long earlier =
        turnsInVain() + notQueued == 0
            ? 0
            : Pauses.within(timeoutNanos / 4, firstPauseNanos, MAX_PAUSE_NANOS);
    margins.require(
        Bound.UNANSWERED,
        unanswered,
        FREE_ROUNDS + told + earlier + Pauses.within(took, timeoutNanos / 4, MAX_PAUSE_NANOS),
        this);
    long patience = Math.min(turnsOfOthers, took / Math.min(timeoutNanos, TURN_NANOS));
    margins.require(
        Bound.QUESTIONS,
        questions,
        FREE_QUESTIONS + rounds + overdue + told + paid + patience,
        this);
    long renewed = took / renewNanos;
    margins.require(Bound.PLACES, places, FREE_PLACES + rounds + questions + renewed, this);
  }

  /**
   * The home node replies that another process has its turn, and the other nodes are free. The
   * client then assumes that the home node has a leftover key. It asks all nodes again after four
   * round trips at least, until the turn has passed. This pause does not grow (seed 2383).
   */
  private long suspectedLeftovers(long tookNanos) {
    return Math.min(turnsOfOthers, tookNanos / (4 * 2 * firstPauseNanos));
  }

  /** How often it was the turn of this process since its last grant. */
  long turnsInVain() {
    return admittedSinceGrant + lock.client.wakes - wakesBefore;
  }

  void onReply(LockRequest request, NodeReply reply) {
    if (request instanceof LockRequest.Acquire r) {
      if (r.leaseId().equals(leaseId)) {
        answered |= reply.code().definite();
        stale |= reply.code() == Code.STALE;
      }
    } else if (request instanceof LockRequest.Enqueue) {
      queueing = false;
      if (reply.code() == Code.ADMITTED) {
        admitted++;
        admittedSinceGrant++;
      }
      turnsOfOthers += reply.code() == Code.QUEUED ? 1 : 0;
      notQueued += reply.code().definite() ? 0 : 1;
    }
  }

  // What follows a grant.

  long settled() {
    return settled;
  }

  /** A node has confirmed a release: the back-off for this node starts again. */
  void confirmed(int node) {
    repeats[node] = 0;
    repeatsSinceMono[node] = lock.client.mono();
  }

  /** A release is sent again because the node has failed it. */
  void repeats(int node) {
    int changes = lock.client.links[node].changes;
    if (repeatsChanges[node] != changes) {
      repeatsChanges[node] = changes;
      confirmed(node);
    }
    long took = lock.client.mono() - repeatsSinceMono[node];
    margins.require(
        Bound.REPEATS,
        ++repeats[node],
        FREE_REPEATS + Pauses.within(took, FIRST_REPEAT_NANOS, Scenario.SECOND),
        this);
  }

  @Override
  public String toString() {
    return lock.client.name() + " for " + lock.keys;
  }
}
