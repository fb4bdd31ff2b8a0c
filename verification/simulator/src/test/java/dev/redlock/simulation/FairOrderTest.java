package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireReport;
import dev.redlock.LockOptions;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fair mode from end to end: processes get the lock in order of arrival. */
class FairOrderTest {
  private static final int PROCESSES = 8;
  private static final int GRANTS = 3_000;

  /** Arrivals within this time of each other have no order. */
  private static final long TOGETHER = 2 * Scenario.MS;

  private final List<Wish> waiting = new ArrayList<>();
  private World world;
  private int granted;
  private int overtaken;

  /** A caller that holds the lock for one to two milliseconds, again and again. */
  private final class Wish extends Waiter implements SimUser.Asker {
    private final SimLock lock;
    private final long cameNanos = world.now;

    Wish(SimLock lock) {
      super(
          lock.keys,
          world.scenario.config,
          lock.client.mono(),
          lock.client.mono() + 300 * Scenario.SECOND,
          false);
      this.lock = lock;
    }

    @Override
    public void granted(HeldLease lease) {
      waiting.remove(this);
      granted++;
      overtaken += waiting.stream().anyMatch(w -> w.cameNanos < cameNanos - TOGETHER) ? 1 : 0;
      world.at(
          world.now + world.rng.between(Scenario.MS, 2 * Scenario.MS),
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
        world.now + world.rng.between(Scenario.MS, 40 * Scenario.MS),
        () -> {
          SimLock lock = client.lock(0);
          Wish wish = new Wish(lock);
          waiting.add(wish);
          lock.act((m, now, wall) -> m.submit(wish, now, wall));
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void processes_thatAreQueued_areServedInOrderOfArrival(int nodes) {
    LockOptions options =
        LockOptions.builder().leaseTime(Duration.ofSeconds(10)).fair(true).build();
    Scenario scenario = new Scenario(nodes, PROCESSES, options, Scenario.MS / 10, Scenario.MS / 10);
    world = new World(new Rng(nodes), scenario, false);
    world.faults = false;
    for (SimClient client : world.clients) {
      client.start();
      comesBack(client);
    }
    while (granted < GRANTS) {
      world.runUntil(world.now + Scenario.MS);
      world.events = 0; // The limit of events does not fit a run of this length.
    }
    System.out.printf(
        "fair mode, %d nodes: %d of %d overtook an earlier process%n", nodes, overtaken, granted);
    assertThat(overtaken).isLessThanOrEqualTo(granted / 1000);
  }
}
