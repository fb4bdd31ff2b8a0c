package dev.redlock.simulation;

import dev.redlock.internal.protocol.Effect;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that waits is served, also in the middle of a run.
 *
 * <ul>
 *   <li>A lock is not left <b>free</b> while a process waits. At worst no hint reaches a waiter: it
 *       then polls, asks the home node, and asks all nodes, which takes one node timeout each if a
 *       node is silent. A process that died in the queue costs the others a poll and the time for
 *       which the first of a queue may be silent.
 *   <li>Callers of one process are served in the order in which they came.
 * </ul>
 *
 * <p>The first does not hold while a fault has an effect: a message that is lost or late, a pause,
 * a clock that is set, a connection that breaks. So it counts only from a lease time and three
 * seconds after the newest effect of a fault. A node that is dead, hung or erring for good is no
 * such effect, as long as a quorum replies. Locks on several names, and callers with different
 * options, wait for each other in ways that the rule does not know; it leaves those worlds out.
 *
 * <p>The order among processes is no rule here. A process that had its turn twice in vain may be
 * passed over until its next poll.
 */
final class WaitRule {
  private static final long RECOVERY_NANOS = 3 * Scenario.SECOND;

  /** The silence of the first of a queue that the others bear, at least. */
  private static final long TURN_NANOS = 100 * Scenario.MS;

  /**
   * A process that had its turn twice in vain hears no wake-up for up to 1.5 s after each later
   * poll, as long as its caller waits (seed 17873).
   */
  private static final long DEAF_NANOS = 3 * Scenario.SECOND / 2;

  private final World world;
  private final Scenario scenario;
  private final boolean uniform;
  private final List<LockWait> waiting = new ArrayList<>();
  private boolean on;
  private long freeSince;

  /** What is known of one lock of one client. */
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
    on = scenario.users > 0;
    uniform = scenario.isUniform();
  }

  /** Applies to a world without random users. */
  void begin() {
    on = true;
  }

  private long calmFrom() {
    return world.disturbedUntil() + scenario.ttlNanos + RECOVERY_NANOS;
  }

  private boolean isCalm() {
    return on && uniform && world.now >= calmFrom() && isQuorumWell();
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
    if (isCalm()) {
      requireNotFree();
    }
  }

  /** A lease has ended; its keys may stay until then. */
  void onEnd(long keptUntil) {
    freeSince = Math.max(world.now, keptUntil);
  }

  void afterEvent(SimLock lock, boolean free) {
    if (!on) {
      return;
    }
    LockWait w = lock.wait;
    boolean waits = lock.machine.waiting() > 0;
    if (!waits && w.sinceTrue < 0 && lock.machine.effects().isEmpty()) {
      return;
    }
    for (Effect effect : lock.machine.effects()) {
      if (effect instanceof Effect.Granted grant) {
        served(w, grant.waiter().submittedNanos());
      }
    }
    if (!waits || lock.machine.lease() != null) {
      waiting.remove(w);
      w.sinceTrue = -1;
    } else if (w.sinceTrue < 0) {
      waiting.add(w);
      w.sinceTrue = world.now;
    }
    if (free && waits && isCalm()) {
      requireNotFree();
    }
  }

  /** The callers of the client that ships come to the queue by threads, in another order. */
  private void served(LockWait w, long submittedMono) {
    if (!scenario.isShell() && w.granted && submittedMono - w.newestMono < 0) {
      throw new Violation("starvation", w.lock.cost + ": a later caller was served before");
    }
    w.granted = true;
    w.newestMono = submittedMono;
  }

  /** Fails if the lock has been free for too long although a process waits. */
  private void requireNotFree() {
    long since = Long.MAX_VALUE;
    for (int i = 0; i < waiting.size(); i++) {
      since = Math.min(since, waiting.get(i).sinceTrue);
    }
    if (since == Long.MAX_VALUE) {
      return;
    }
    long free = world.now - Math.max(since, Math.max(freeSince, calmFrom()));
    if (free > 0) {
      world.margins.require(
          Bound.FREE, free / 1_000, allowedNanos() / 1_000, waiting.get(0).lock.cost);
    }
  }

  private long allowedNanos() {
    long poll = scenario.shortestPollNanos() * 3 / 2; // Jitter.
    long turn = Math.max(TURN_NANOS, 6 * (scenario.delayNanos + scenario.jitterNanos));
    boolean deaf = false;
    for (int i = 0; i < waiting.size(); i++) {
      deaf |= waiting.get(i).lock.cost.turnsInVain() > 1;
    }
    return poll
        + 2 * scenario.config.nodeTimeoutNanos()
        + world.died() * (poll + turn)
        + turn
        + (deaf ? DEAF_NANOS : 0);
  }

  void remove(SimLock lock) {
    waiting.remove(lock.wait);
    lock.wait.sinceTrue = -1;
  }

  void clientGone(SimClient client) {
    waiting.removeIf(w -> w.lock.client == client);
  }
}
