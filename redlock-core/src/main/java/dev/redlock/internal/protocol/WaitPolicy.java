package dev.redlock.internal.protocol;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import org.jspecify.annotations.Nullable;

/**
 * When the head of the local queue asks again after a refusal, and which nodes it asks.
 *
 * <p>The Redis specification sleeps for a random time and asks all nodes again. With many waiters
 * that costs hundreds of commands for each lease. And if A, B and C ask three nodes at the same
 * time, each may get one vote, and no client a quorum.
 *
 * <p>Here a refused process enters the queue of the {@link HomeNode}, which is the same node for
 * all clients, and sleeps. A release wakes the first of the queue, and that one asks all nodes. So
 * a hand-over takes two round trips, and costs the same however many processes wait. A process that
 * misses its turn loses some time only:
 *
 * <ul>
 *   <li>The release also warns the second. If the first is silent for a while, the second passes it
 *       over.
 *   <li>The first asks again when the key of the holder has expired, the second a little later. The
 *       first also listens to another node, in case the home node hangs.
 *   <li>Each waiter asks again after the poll interval, or up to three further back.
 * </ul>
 *
 * <p>All of this only saves time and commands. Votes alone decide who has the lock.
 */
final class WaitPolicy {
  /**
   * How often in a row this process may be refused at its turn. A home node that admits while
   * others hold the lock has lost its key.
   */
  private static final int REFUSED_AT_TURN_LIMIT = 2;

  static final long MAX_PAUSE_NANOS = 1_000_000_000;
  private static final long MIN_ROUND_NANOS = 1_000_000;

  /** So long a newcomer trusts those before it. */
  private static final long MAX_TURNS_NANOS = 250_000_000;

  /** The longest sleep, in poll intervals. The home node drops a process that does not ask. */
  static final int MAX_POLLS = 3;

  /** So many places further back, a waiter polls one poll interval later. */
  private static final int PLACES_PER_POLL = 32;

  /** Such a process did not come to its turn by being served in order. */
  private static final int FAR_PLACE = 5;

  private static final int UNKNOWN_PLACE = Integer.MAX_VALUE;

  private final Nodes nodes;
  private final Randomness random;
  private final HomeNode home;
  private final Sleep sleep = new Sleep();

  /** Others want the lock: each request goes to the home node first, until the reset. */
  private boolean viaHome;

  /** Only the next request: it goes to all nodes, even if {@link #viaHome} is set. */
  private boolean allOnce;

  /** A release hint came while the nodes were asked; it may have overtaken their reply. */
  private boolean hintWhileAsking;

  /** Whether the lock was held after a hint, and this process had no turn since. */
  private boolean refusedAfterHint;

  /** Whether the newest request to be queued failed. */
  private boolean queueFailed;

  /** The last pause; the next one is longer. 0 if there was none since the last reset. */
  private long pauseNanos;

  /** How often in a row this process was refused at its turn. */
  private int refusalsAtTurn;

  /** The node in whose queue this process sleeps, or −1. */
  private int queuedAt = -1;

  /** How many processes are before this one in the queue. */
  private int ahead = UNKNOWN_PLACE;

  /** When the keys of a quorum can have expired, as the newest refused round says. */
  private long quorumFreeNanos;

  /** The highest token of a lease that had ended, when the home node admitted this process. */
  private long endedAtHome;

  /** Until the home node knows of a lease that ended with this token, the lock counts as held. */
  private long afterToken;

  /** Limits guesses from slow replies: no waiter sleeps for longer than a reply may take. */
  private long timeoutNanos = 100_000_000;

  /** Fair mode: order matters more than time. */
  private boolean fair;

  WaitPolicy(Nodes nodes, LockKeys keys, Randomness random) {
    this.nodes = nodes;
    this.random = random;
    home = new HomeNode(nodes, keys);
  }

  /** The queue is empty, or the next head begins without a history of refusals. */
  void reset() {
    sleep.end();
    viaHome = false;
    allOnce = false;
    pauseNanos = 0;
    refusalsAtTurn = 0;
    queuedAt = -1;
    ahead = UNKNOWN_PLACE;
    afterToken = 0;
    hintWhileAsking = false;
    refusedAfterHint = false;
    queueFailed = false;
  }

  boolean isTime(long now) {
    return sleep.isOver(now);
  }

  /** Ends the wait; returns its cause, or null if there was no wait. */
  @Nullable WakeUp wake() {
    return sleep.end();
  }

  void deadlines(NextWake wake) {
    sleep.deadlines(wake);
  }

  /** Minimum hold: the key stays until then, and no hint changes that. */
  void pauseUntil(long at) {
    sleep.until(at, WakeUp.PAUSE, false);
  }

  /**
   * Too many rounds are under way: waits for about as long as a round takes, but not if a waiter of
   * this queue would then be left without the time for two rounds.
   */
  boolean backsOff(LockConfig config, long nearestDeadline, long now) {
    double rounds = nodes.limiter().backoff();
    if (rounds == 0) {
      return false;
    }
    long round = Math.max(MIN_ROUND_NANOS, roundTrip());
    long at = now + (long) (rounds * round * (0.5 + random.next()));
    if (at + 2 * config.nodeTimeoutNanos() - nearestDeadline > 0) {
      return false;
    }
    sleep.until(at, sleep.isOn() ? sleep.cause() : WakeUp.PAUSE, true);
    return true;
  }

  private void pause(long now, long first, long limit) {
    pauseNanos = Math.min(limit, pauseNanos == 0 ? first : 2 * pauseNanos);
    sleep.until(now + (long) (pauseNanos * (0.5 + random.next())), WakeUp.PAUSE, true);
  }

  // Whom.

  /** The node whose queue to enter before all are asked; −1 to ask all. Clears the flags. */
  int nodeToQueueAt(boolean othersWant) {
    boolean all = allOnce;
    allOnce = false;
    hintWhileAsking = false;
    return !all && (viaHome || othersWant) ? home() : -1;
  }

  /**
   * The same, by what is known of others. If the home node is to decide, all are asked at once, but
   * not if that harms the first of its queue: if the home node is far, the other nodes grant to
   * this process first; if it sends no invalidations, the first polls, and rarely finds it free.
   */
  int nodeToQueueAt(Turn turn, long now) {
    return nodeToQueueAt(turn.othersWant() || (turn.needsHome(now) && !home.isNearAndWakes(fair)));
  }

  /** Whether a release has woken this process, so that the next round is its turn. */
  boolean isAtTurn() {
    return allOnce && ahead == 0 && sleep.cause() == WakeUp.HINT;
  }

  /** The node whose queue to enter; −1 if all are passed over. */
  int home() {
    return home.pick(fair);
  }

  /** See {@link LockRequest.Enqueue#afterToken}; for one request, then the lease may be over. */
  long takeAfterToken() {
    long after = afterToken;
    afterToken = 0;
    return after;
  }

  /** When a node that is asked to queue this process counts as hung. */
  long patienceWith(int node) {
    return fair ? timeoutNanos : Math.min(timeoutNanos, nodes.knowledge(node).patience());
  }

  /** The head asks now, with this config. */
  void asked(LockConfig config) {
    timeoutNanos = config.nodeTimeoutNanos();
    fair = config.fair();
  }

  // What comes of a round.

  /** The round was refused, and the attempt continues: decides when and whom to ask. */
  void refused(AcquireRound r, long now) {
    switch (r.verdict()) {
      case HELD, COLLIDED -> {
        viaHome = true;
        quorumFreeNanos = r.quorumFreeNanos(now);
        refusalsAtTurn += r.atTurn ? 1 : 0;
        if (refusalsAtTurn > 1) {
          // At first, the holder's release may still be on its way to the other nodes.
          pause(now, roundTrip(), MAX_PAUSE_NANOS);
          if (isHomeWrong()) {
            sleep.ignoreHints();
            afterToken = endedAtHome + 1;
          }
        }
      }
      default -> {
        // No other client has won: asks all nodes again, after growing pauses.
        allOnce = true;
        pause(now, timeoutNanos / 2, MAX_PAUSE_NANOS);
      }
    }
  }

  /** A hand-off was refused: others come first. */
  void expectOthers() {
    viaHome = true;
  }

  // What comes of a request to be queued.

  /** The node does not reply for longer than usual: the next in order takes its place. */
  void noReply(QueueRequest request) {
    // In fair mode it let the whole node timeout pass; see HomeNode.
    nodes.blame(1L << request.node, fair);
    viaHome = true;
  }

  /**
   * The node is down or fails, and the next in order takes its place. It may vote all the same, and
   * so count as well again: from the second time on all nodes are asked, or a process that this
   * node cannot queue would never ask for the lock. The pause keeps it from asking without end.
   */
  void notQueued(QueueRequest request, long now) {
    nodes.blame(1L << request.node, true);
    pause(now, roundTrip(), MAX_PAUSE_NANOS);
    viaHome = true;
    allOnce = queueFailed;
    queueFailed = true;
  }

  /** It is the turn of this process, as the node says. */
  void admitted(QueueRequest request, NodeReply reply) {
    queueFailed = false;
    queuedAt = request.node;
    ahead = 0;
    refusedAfterHint = false;
    endedAtHome = reply.fence();
  }

  /** The process is queued: sleeps until its turn. Returns whether it is the first, and waits. */
  boolean queued(QueueRequest request, NodeReply reply, LockConfig config, long now) {
    queueFailed = false;
    queuedAt = request.node;
    ahead = reply.othersQueued();
    long again = reply.remainingMillis() * 1_000_000L;
    if (reply.code() == ReplyCode.QUEUED) { // It is the turn of another process.
      // The second passes the first over. If both are dead, one of the others has to ask.
      long turns = Math.min(Math.max(1, ahead) * patience(), Math.max(MAX_TURNS_NANOS, patience()));
      sleepUntilCalled(config, now + (again > 0 ? again + 1_000_000 : turns), true, now);
      return false;
    }
    long until = now + again + 1_000_000L;
    if (reply.remainingMillis() < 0) { // The node does not store the lease that holds the lock.
      until = quorumFreeNanos - now > 0 ? quorumFreeNanos : now + patience();
    }
    sleepUntilCalled(config, until + Math.min(1, ahead) * patience(), ahead <= 1, now);
    return ahead == 0;
  }

  /**
   * The key on the home node may be a leftover, if it outlives what is under way: asks all then.
   */
  void expectLeftover(long now) {
    allOnce = true;
    sleep.until(now + fewRoundTrips(), WakeUp.PAUSE, true);
  }

  /** Sleeps until a hint, the poll, or {@code free} if the process is one of the {@code first}. */
  private void sleepUntilCalled(LockConfig config, long free, boolean first, long now) {
    boolean hint = sleep.cause() == WakeUp.HINT;
    viaHome = true;
    long poll = Math.min(config.pollNanos(), config.ttlNanos() / 3);
    double later = Math.min(MAX_POLLS - 1.5, (double) ahead / PLACES_PER_POLL);
    long pollAt = now + (long) (poll * (0.5 + random.next() + later));
    boolean expiry = first && free - pollAt < 0;
    sleep.until(expiry ? free : pollAt, expiry ? WakeUp.EXPIRY : WakeUp.POLL, true);
    allOnce = !expiry && ahead == 0 && !fair;
    if (hintWhileAsking) {
      hintWhileAsking = false;
      onReleaseHint(false, now);
    } else if (hint && ahead == 0 && !refusedAfterHint) {
      refusedAfterHint = true;
      // The hint may have overtaken the release on its way to the home node. Asks once more, for
      // where invalidations are lost, nothing else would tell of it.
      askHomeBy(now + fewRoundTrips());
    }
  }

  // Hints.

  /** Its wake key was written: it is its turn, or far back: those before it may be dead. */
  void onTurn(long now) {
    if (isHomeWrong()) {
      askHomeBy(now + pauseNanos);
    } else if (ahead >= FAR_PLACE && ahead != UNKNOWN_PLACE) {
      askHomeBy(now);
    } else if (sleep.heedsHints()) {
      ahead = 0;
      allOnce = true;
      sleep.until(now, WakeUp.HINT, true);
    }
  }

  /** Whether the home node says that it is the turn of this process, but others hold the lock. */
  private boolean isHomeWrong() {
    return refusalsAtTurn > REFUSED_AT_TURN_LIMIT;
  }

  /** It is the turn of the process before this one: passes it over if it is silent. */
  void onTurnBefore(long now) {
    ahead = Math.min(ahead, 1);
    askHomeBy(now + patience());
  }

  /** A node reports a change of the lock key: matters to the first of the queue. */
  void onLockKey(boolean multi, long now) {
    if (multi) {
      askHomeBy(now + (long) (4 * random.next() * roundTrip()));
    } else if (ahead == 0) {
      askHomeBy(now + patience());
    }
  }

  /** Another carrier than the nodes says that the lock was released. */
  void onReleaseHint(boolean multi, long now) {
    hintWhileAsking |= !sleep.isOn();
    boolean known = ahead != UNKNOWN_PLACE;
    if (known && ahead > 0) {
      ahead--;
    }
    if (multi || ahead == 0 || !known) {
      askHomeBy(now + (long) ((0.5 + random.next()) * roundTrip()));
    }
  }

  /** The node has a new connection, or lost one: this process may have lost its place. */
  void onNodeStatus(int node, long now) {
    long at = now + (long) (2 * random.next() * roundTrip());
    if (queuedAt < 0) {
      sleep.wakeBy(at); // A quorum may vote again. There is no place to lose, and perhaps no queue.
    } else if (node == queuedAt || home.pick(false) != queuedAt) {
      askHomeBy(at);
    }
  }

  private void askHomeBy(long at) {
    if (sleep.wakeBy(at)) {
      allOnce = false;
      viaHome = true;
    }
  }

  /** How long the first of the queue may be silent at its turn. */
  private long patience() {
    int h = queuedAt;
    return h < 0 ? 3 * roundTrip() : Math.min(timeoutNanos, nodes.knowledge(h).turnPatience(fair));
  }

  private long roundTrip() {
    return Math.min(timeoutNanos, nodes.roundTripNanos());
  }

  private long fewRoundTrips() {
    return (long) ((4 + 2 * random.next()) * roundTrip());
  }
}
