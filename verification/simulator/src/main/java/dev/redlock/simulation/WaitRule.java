package dev.redlock.simulation;

import dev.redlock.internal.protocol.Effect;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that waits is served, also in the middle of a run.
 *
 * <ul>
 *   <li>A lock is not left <b>free</b> while a process waits and a quorum is well. The first of the
 *       queue asks at the latest after its fallback poll: the poll interval, or a third of the
 *       lease time if that is shorter, with jitter of at most one half. After refusals that the
 *       queue does not explain it pauses instead, for 1 s with the same jitter. It then asks the
 *       home node and all nodes, and each of these two questions takes a node timeout at most.
 *       Processes that have died may be before it in the queue. The home node drops one of them
 *       after the first turn that passes, four after the second, 16 after the third, and so on: so
 *       their number adds to the bound by its logarithm. A release of a long queue also wakes the
 *       last of it: if that one is alive, the lock is not free until a poll.
 *   <li>Callers of one process are served in the <b>order</b> in which they came.
 * </ul>
 *
 * <p>The first rule needs a world without recent faults. A message that is lost or late, a pause, a
 * clock that is set and a broken connection leave keys, entries of the queue and pauses behind. So
 * the rule begins after the newest effect of a fault, when a lease time, the longest pause and a
 * node timeout have passed. A node that stays dead, hung or erring is no such effect, as long as a
 * quorum replies to each client. Multi-locks that overlap, and callers with different options, have
 * other bounds; the rule leaves those worlds out. In the setting SHELL, code of the users blocks
 * threads of the client, so that neither rule applies.
 *
 * <p>How many others are served before a waiting process is not bounded here. A process that finds
 * the lock free in the round trip of a hand-over passes the queue. This may happen any number of
 * times.
 */
final class WaitRule {
  /** The longest pause of {@code Wait}, and its jitter. */
  private static final long MAX_PAUSE_NANOS = 3 * Scenario.SECOND / 2;

  /**
   * The patience of a process is three usual latencies, and 100 ms in fair mode. Messages of these
   * worlds are slow at times.
   */
  private static final long MAX_TURN_NANOS = 250 * Scenario.MS;

  private final World world;
  private final Scenario scenario;
  private final List<LockWait> waiting = new ArrayList<>();
  private boolean on;
  private long freeSince;

  /** The time of the newest fault, if it has left nothing behind but places of dead processes. */
  private long calmSince = -1;

  /** Whether the last of the queue is alive: a release wakes it. */
  private boolean lastLives;

  /** The state of one lock of one client, as far as the rule knows it. */
  static final class LockWait {
    final SimLock lock;

    /** Since when the process waits without a lease; negative if it does not. */
    private long sinceTrue = -1;

    private boolean granted;
    private long newestMono;

    LockWait(SimLock lock) {
      this.lock = lock;
    }
  }

  WaitRule(World world) {
    this.world = world;
    scenario = world.scenario;
    on = scenario.users > 0 && scenario.isUniform() && !scenario.isShell();
  }

  /** Applies to a world without random users as well. */
  void begin() {
    on = true;
  }

  /** The newest faults have left nothing behind but places of dead processes. */
  void onlyWaitersDied() {
    calmSince = world.disturbedUntil();
  }

  /** The same, and the last of the queue is alive, so that none has to wait for a poll. */
  void onlyWaitersBeforeTheLastDied() {
    onlyWaitersDied();
    lastLives = true;
  }

  private long calmFrom() {
    if (calmSince == world.disturbedUntil()) {
      return calmSince;
    }
    return world.disturbedUntil()
        + scenario.ttlNanos
        + MAX_PAUSE_NANOS
        + scenario.config.nodeTimeout().toNanos();
  }

  /** Whether a quorum replies to every client. */
  private boolean isQuorumWell() {
    for (SimClient client : world.clients) {
      int well = 0;
      for (SimLink link : client.links) {
        well += link.isVoting() && link.node.works() ? 1 : 0;
      }
      if (well < scenario.quorum()) {
        return false;
      }
    }
    return true;
  }

  /** A round has won the lock. */
  void onGrant() {
    if (on) {
      requireNotFree();
    }
  }

  /** A lease has ended. Its keys may stay until then, or until they expire, which drift delays. */
  void onEnd(long keptUntil) {
    freeSince = Math.max(world.now + scenario.config.drift().toNanos(), keptUntil);
  }

  void afterEvent(SimLock lock, boolean free) {
    if (!scenario.isShell()) {
      requireOrder(lock);
    }
    if (!on) {
      return;
    }
    LockWait w = lock.wait;
    boolean waits = lock.machine.waiting() > 0 && lock.machine.lease() == null;
    if (!waits && w.sinceTrue >= 0) {
      remove(lock);
    } else if (waits && w.sinceTrue < 0) {
      w.sinceTrue = world.now;
      waiting.add(w);
    }
    if (free && waits) {
      requireNotFree();
    }
  }

  private static void requireOrder(SimLock lock) {
    LockWait w = lock.wait;
    List<Effect> effects = lock.machine.effects();
    for (int i = 0; i < effects.size(); i++) {
      if (effects.get(i) instanceof Effect.Granted grant) {
        long submitted = grant.waiter().submittedNanos();
        if (w.granted && submitted - w.newestMono < 0) {
          throw new Violation("starvation", w.lock.cost + ": a later caller was served before");
        }
        w.granted = true;
        w.newestMono = submitted;
      }
    }
  }

  /** Fails if the lock has been free for too long although a process waits. */
  private void requireNotFree() {
    long calmFrom = calmFrom();
    if (world.now < calmFrom || waiting.isEmpty() || !isQuorumWell()) {
      return;
    }
    long since = Long.MAX_VALUE;
    for (int i = 0; i < waiting.size(); i++) {
      since = Math.min(since, waiting.get(i).sinceTrue);
    }
    long free = world.now - Math.max(since, Math.max(freeSince, calmFrom));
    if (free > 0) {
      world.margins.require(
          Bound.FREE, free / 1_000, allowedNanos() / 1_000, waiting.get(0).lock.cost);
    }
  }

  private long allowedNanos() {
    long timeout = scenario.config.nodeTimeout().toNanos();
    // A place further back adds to the poll: see PLACES_PER_POLL and MAX_POLLS.
    long places = Math.min(48, scenario.clients + world.died());
    long poll = scenario.shortestPollNanos() * (48 + places) / 32;
    long turns = passes(world.died()) * (MAX_TURN_NANOS + timeout);
    long oneByOne = world.died() * (poll + timeout);
    long asks = lastLives ? MAX_TURN_NANOS : Math.max(poll, MAX_PAUSE_NANOS);
    return asks + 2 * timeout + Math.min(turns, oneByOne);
  }

  /** How many turns pass until the home node has dropped so many processes that do not answer. */
  static int passes(int dead) {
    int passes = 0;
    for (int dropped = 0, next = 1; dropped < dead; next *= 4, passes++) {
      dropped += next;
    }
    return dead == 0 ? 0 : passes + 1; // A newcomer trusts those before it at first.
  }

  void remove(SimLock lock) {
    lock.wait.sinceTrue = -1;
    waiting.remove(lock.wait);
  }

  void clientGone(SimClient client) {
    waiting.removeIf(w -> w.lock.client == client);
  }
}
