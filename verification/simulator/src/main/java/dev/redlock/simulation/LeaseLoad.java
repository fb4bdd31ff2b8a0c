package dev.redlock.simulation;

import dev.redlock.AcquireReport;
import dev.redlock.LockOptions;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Waiter;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One process that holds many leases, on nodes that work for some time on each request. After a
 * pause of the process or of all nodes, it must keep each lease that the nodes can extend in time.
 */
final class LeaseLoad {
  /** What the client needs beside the work, in node timeouts: to see that nodes reply again. */
  private static final long OVERHEAD_TIMEOUTS = 6;

  final World world;
  private final SimClient client;
  private final int count;
  private final long workNanos;
  private final List<HeldLease> leases = new ArrayList<>();

  /** When the lock that is free was asked for, and then how long its caller waited. */
  private long fresh;

  /**
   * @param workNanos how long a node works on one request
   */
  LeaseLoad(long seed, int nodes, LockOptions options, int count, long workNanos) {
    List<LockKeys> names = new ArrayList<>();
    for (int i = 0; i <= count; i++) { // One is free.
      names.add(LockKeys.of("redlock", List.of(String.valueOf((char) (Checker.MANY + i)))));
    }
    Scenario scenario =
        new Scenario(
            nodes, 1, options, Scenario.MS / 5, Scenario.MS / 10, RestartGuard.UPTIME, names);
    world = new World(new Rng(seed), scenario, false);
    world.faults = false;
    client = world.clients[0];
    this.count = count;
    this.workNanos = workNanos;
  }

  /** A load that the nodes can just serve after a pause, of random size and speed. */
  static LeaseLoad random(long seed) {
    Rng rng = new Rng(seed);
    Duration leaseTime = Duration.ofSeconds(rng.between(3, 30));
    int count = (int) rng.between(50, 200);
    long work = Math.min(10 * Scenario.MS, leaseTime.toNanos() / count / rng.between(6, 24));
    LockOptions options = LockOptions.builder().leaseTime(leaseTime).build();
    return new LeaseLoad(seed, rng.chance(0.7) ? 3 : 5, options, count, work);
  }

  /** A caller that holds its lease to the end. */
  private final class Holder extends Waiter implements SimUser.Asker {
    Holder(SimLock lock) {
      super(
          lock.keys,
          world.scenario.config,
          lock.client.mono(),
          lock.client.mono() + 300 * Scenario.SECOND,
          false);
    }

    @Override
    public void granted(HeldLease lease) {
      if (leases.size() < count) {
        leases.add(lease);
      } else {
        fresh = world.now - fresh;
      }
    }

    @Override
    public void refused(AcquireReport report) {
      throw new Violation("liveness", "waited in vain: " + report.sentence());
    }
  }

  /** Acquires all leases within this time, while the nodes are fast. */
  LeaseLoad start(long spreadNanos) {
    client.start();
    runs(world.scenario.ttlNanos + 4 * Scenario.SECOND);
    for (int i = 0; i < count; i++) {
      int name = i;
      world.at(world.now + spreadNanos / count * i, () -> acquire(client.lock(name)));
    }
    runs(spreadNanos + 200 * Scenario.MS);
    Play.require(leases.size() == count, "acquired only " + leases.size());
    for (SimNode node : world.nodes) {
      node.workNanos = workNanos;
    }
    return this;
  }

  private void acquire(SimLock lock) {
    lock.act((m, now, wall) -> m.submit(new Holder(lock), now, wall));
  }

  LeaseLoad runs(long nanos) {
    for (long end = world.now + nanos; world.now < end; ) {
      world.runUntil(Math.min(end, world.now + 10 * Scenario.MS));
      world.events = 0; // The limit of events does not fit a run of this length.
    }
    return this;
  }

  /** The process is paused, and then all leases are due. A lock that is free is got meanwhile. */
  LeaseLoad pauses(long nanos) {
    int served = servedAfter(nanos);
    client.pause(nanos);
    // When all that was due has been sent.
    world.at(world.now + nanos + 20 * Scenario.MS, this::acquireFree);
    return settles(nanos, served).acquiredFreeSoon();
  }

  private void acquireFree() {
    fresh = world.now;
    acquire(client.lock(count));
  }

  /** All nodes are paused: they execute the requests of that time afterwards. */
  LeaseLoad hangs(long nanos) {
    int served = servedAfter(nanos);
    pauseNodes(nanos);
    return settles(nanos, served);
  }

  private void pauseNodes(long nanos) {
    for (SimNode node : world.nodes) {
      node.pause(nanos);
    }
  }

  /** A lock that is free is got when a quorum replies again: no lost lease keeps it waiting. */
  LeaseLoad acquiresAfterAHang(long nanos) {
    pauseNodes(nanos);
    runs(nanos);
    while (!client.hasQuorum()) {
      runs(Scenario.MS);
    }
    acquireFree();
    return runs(2 * world.scenario.ttlNanos).acquiredFreeSoon();
  }

  private LeaseLoad acquiredFreeSoon() {
    long most = 3 * world.scenario.config.nodeTimeout().toNanos();
    Play.require(0 < fresh && fresh <= most, "waited " + Scenario.ms(fresh) + " for a free lock");
    return this;
  }

  /** From now on the nodes work only in the last part of each period, as under a CPU quota. */
  LeaseLoad throttles(long partNanos, long periodNanos) {
    pauseNodes(periodNanos - partNanos);
    world.at(world.now + periodNanos, () -> throttles(partNanos, periodNanos));
    return this;
  }

  /** From now on the process runs only in the last part of each period, as under a CPU quota. */
  LeaseLoad starves(long partNanos, long periodNanos) {
    client.pause(periodNanos - partNanos);
    world.at(world.now + periodNanos, () -> starves(partNanos, periodNanos));
    return this;
  }

  /** How many leases the nodes can extend after a pause, if those that end first come first. */
  private int servedAfter(long pauseNanos) {
    long overhead = OVERHEAD_TIMEOUTS * world.scenario.config.nodeTimeout().toNanos();
    long each = workNanos + workNanos / 4;
    int served = 0;
    for (long left : leases.stream().mapToLong(client::remaining).sorted().toArray()) {
      served += (served + 1) * each <= left - pauseNanos - overhead ? 1 : 0;
    }
    return served;
  }

  private LeaseLoad settles(long pauseNanos, int served) {
    runs(pauseNanos + 2 * world.scenario.ttlNanos);
    world.margins.require(
        Bound.LOST, lost(), count - served, count + " leases, pause " + Scenario.ms(pauseNanos));
    return this;
  }

  int lost() {
    return (int) leases.stream().filter(lease -> lease.end() != null).count();
  }

  /** The process closes, and leaves no extension. */
  void ends() {
    client.close();
    runs(2 * world.scenario.ttlNanos);
    int left = client.extensions().underWay() + client.extensions().waiting();
    Play.require(left == 0, "an extension is under way, or waits");
  }
}
