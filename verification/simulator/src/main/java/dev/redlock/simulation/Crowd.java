package dev.redlock.simulation;

import dev.redlock.AcquireReport;
import dev.redlock.LockOptions;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Waiter;

/**
 * Processes that want one name all the time, without random faults. In the worlds of {@link World}
 * a fault affects most waits. Here {@link WaitRule} checks thousands of waits without a fault.
 */
final class Crowd {
  private static final long MAX_WAIT = 300 * Scenario.SECOND;

  /** A release wakes the last of a queue again after 250 ms at the earliest. */
  private static final long LONG_HOLD = 300 * Scenario.MS;

  final World world;
  private final int callers;

  /** Whether the first of the processes comes later, and the last one holds the lock for longer. */
  private boolean uneven;

  private final long holdNanos;
  private final long thinkNanos;
  private int granted;
  private boolean over;

  /**
   * @param callers how many callers each process has
   * @param holdNanos for how long a caller holds the lock at most
   * @param thinkNanos after how long it comes back at most
   */
  Crowd(long seed, Scenario scenario, int callers, long holdNanos, long thinkNanos) {
    world = new World(new Rng(seed), scenario, false);
    world.faults = false;
    this.callers = callers;
    this.holdNanos = holdNanos;
    this.thinkNanos = thinkNanos;
    world.checker.waits.begin();
  }

  /** A crowd of random size, speed and options. */
  static Crowd random(long seed) {
    Rng rng = new Rng(seed);
    LockOptions options =
        LockOptions.builder()
            .leaseTime(java.time.Duration.ofSeconds(rng.between(1, 30)))
            .fair(rng.chance(0.5))
            .maxHandOffs((int) rng.oneOf(0, 1, 3, 16))
            .build();
    Scenario scenario =
        new Scenario(
            (int) rng.oneOf(1, 3, 3, 5),
            (int) rng.between(2, 8),
            options,
            rng.spread(50_000, 5 * Scenario.MS),
            rng.spread(10_000, Scenario.MS));
    return new Crowd(
        seed,
        scenario,
        (int) rng.oneOf(1, 1, 2, 4),
        rng.spread(100_000, 20 * Scenario.MS),
        rng.spread(Scenario.MS, 100 * Scenario.MS));
  }

  /** A caller of a process that acquires the lock again and again. */
  private final class Caller extends Waiter implements SimUser.Asker {
    private final SimLock lock;

    Caller(SimLock lock) {
      super(
          lock.keys,
          world.scenario.config,
          lock.client.mono(),
          lock.client.mono() + MAX_WAIT,
          false);
      this.lock = lock;
    }

    @Override
    public void granted(HeldLease lease) {
      granted++;
      boolean last = lock.client.index == world.clients.length - 1;
      world.at(
          world.now + (uneven && last ? LONG_HOLD : world.rng.between(1, holdNanos)),
          () -> {
            lease.askRelease();
            SimAck ack = new SimAck(lock.client, "release");
            lock.act((m, now, wall) -> m.release(lease, ack, now, wall));
            comesBack(lock.client);
          });
    }

    @Override
    public void refused(AcquireReport report) {
      throw new Violation("liveness", "waited in vain: " + report.sentence());
    }
  }

  private void comesBack(SimClient client) {
    world.at(
        world.now + world.rng.between(1, thinkNanos),
        () -> {
          if (!over) {
            SimLock lock = client.lock(0); // Not earlier: an idle lock is retired.
            Caller caller = new Caller(lock);
            lock.act((m, now, wall) -> m.submit(caller, now, wall));
          }
        });
  }

  /** The callers come, after all clients have connected and the rules apply. */
  Crowd start() {
    for (SimClient client : world.clients) {
      client.start();
    }
    world.runUntil(world.scenario.ttlNanos + 4 * Scenario.SECOND);
    for (SimClient client : world.clients) {
      for (int i = 0; i < callers && !(uneven && client.index == 0); i++) {
        comesBack(client);
      }
    }
    return this;
  }

  /** For {@link #diesBeforeTheLast}. */
  Crowd startUneven() {
    uneven = true;
    return start();
  }

  /** A node fails for good, and the rules apply again. */
  Crowd fails(int node, SimNode.Illness illness) {
    world.nodes[node - 1].fallSick(illness);
    return runs(world.scenario.ttlNanos + 8 * Scenario.SECOND);
  }

  Crowd runs(long nanos) {
    for (long end = world.now + nanos; world.now < end; ) {
      world.runUntil(world.now + Scenario.MS);
      world.events = 0; // The limit of events does not fit a run of this length.
    }
    return this;
  }

  /**
   * Most of the processes die at the same moment, while another one holds the lock. They have left
   * their places in the queue.
   */
  Crowd dies(int processes) {
    while (!isHeldByTheLast()) {
      runs(Scenario.MS);
    }
    for (int i = 0; i < processes; i++) {
      world.replace(world.clients[i], "dies");
    }
    runs(6 * Scenario.SECOND / 5); // New processes take their places, and connect.
    world.checker.waits.onlyWaitersDied();
    return this;
  }

  /**
   * The process that has not come yet enters the queue behind all others. All before it die at the
   * same moment, while another one holds the lock. That one does not come back: it would find that
   * they are silent.
   */
  Crowd diesBeforeTheLast() {
    while (!isHeldByTheLast()) {
      runs(Scenario.MS);
    }
    runs(LONG_HOLD / 3);
    comesBack(world.clients[0]);
    runs(thinkNanos + Scenario.MS);
    over = true;
    for (int i = 1; i < world.clients.length - 1; i++) {
      world.replace(world.clients[i], "dies");
    }
    runs(6 * Scenario.SECOND / 5); // New processes take their places, and connect.
    world.checker.waits.onlyWaitersBeforeTheLastDied();
    return this;
  }

  private boolean isHeldByTheLast() {
    SimLock lock = world.clients[world.clients.length - 1].locks[0];
    return lock != null && lock.machine.lease() != null;
  }

  /** Runs until so many leases were granted. */
  Crowd serves(int grants) {
    for (int end = granted + grants; granted < end; ) {
      runs(10 * Scenario.MS);
    }
    return this;
  }

  int granted() {
    return granted;
  }

  /** The requests that all clients have sent. */
  long requests() {
    long sum = 0;
    for (SimClient client : world.clients) {
      for (SimLink link : client.links) {
        sum += link.sent;
      }
    }
    return sum;
  }

  /** All callers are served, and all processes become idle. */
  void ends() {
    over = true;
    runs(2 * world.scenario.ttlNanos);
  }
}
