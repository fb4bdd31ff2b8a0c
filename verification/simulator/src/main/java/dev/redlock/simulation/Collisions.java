package dev.redlock.simulation;

import dev.redlock.AcquireReport;
import dev.redlock.LockOptions;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures the effect of the queue at the home node: processes that want one name at the same time,
 * and processes that wait for one holder. Each caller has its own process. There are five nodes,
 * and a message takes 50 to 100 µs.
 */
final class Collisions {
  private static final int NODES = 5;
  private static final long MICROS = 1000;
  private static final long MIN_DELAY = 50 * MICROS;
  private static final long JITTER = 50 * MICROS;
  static final long ROUND_TRIP = 2 * MIN_DELAY + JITTER;

  /**
   * The cost of one collision or of one hand-over.
   *
   * @param rounds the highest number of rounds of any client, requests to be queued included
   */
  record Sample(long nanos, long commands, int rounds) {}

  private final World world;
  private final List<Contender> contenders = new ArrayList<>();

  private Collisions(long seed, int clients) {
    LockOptions options = LockOptions.builder().leaseTime(Duration.ofSeconds(10)).build();
    world =
        new World(new Rng(seed), new Scenario(NODES, clients, options, MIN_DELAY, JITTER), false);
    world.faults = false;
    for (SimClient client : world.clients) {
      client.start();
      contenders.add(new Contender(client));
    }
    world.runUntil(10 * Scenario.MS);
  }

  /** A caller that acquires the lock, holds it for a while and releases it. */
  private final class Contender {
    private final SimClient client;
    private long grantedAt;
    private long releasedAt;

    Contender(SimClient client) {
      this.client = client;
    }

    private final class Wish extends Waiter implements SimUser.Asker {
      private final SimLock lock;
      private final long holdNanos;

      Wish(SimLock lock, long now, long holdNanos) {
        super(lock.keys, world.scenario.config, now, now + 60 * Scenario.SECOND, false);
        this.lock = lock;
        this.holdNanos = holdNanos;
      }

      @Override
      public void granted(HeldLease lease) {
        grantedAt = world.now;
        world.at(
            world.now + holdNanos,
            () -> {
              releasedAt = world.now;
              lease.askRelease();
              SimAck ack = new SimAck(client, "release");
              lock.act((m, now, wall) -> m.release(lease, ack, now, wall));
            });
      }

      @Override
      public void refused(AcquireReport report) {
        throw new Violation("liveness", client.name() + " waited in vain");
      }
    }

    /** Asks for the lock at that time, and holds it for so long. */
    void wants(long at, long holdNanos) {
      world.at(
          at,
          () -> {
            SimLock lock = client.lock(0); // Not earlier: an idle lock is retired.
            Wish wish = new Wish(lock, client.mono(), holdNanos);
            lock.act((m, now, wall) -> m.submit(wish, now, wall));
          });
    }
  }

  private long commands() {
    long sum = 0;
    for (SimClient client : world.clients) {
      for (SimLink link : client.links) {
        sum += link.sent;
      }
    }
    return sum;
  }

  private int rounds() {
    int max = 0;
    for (SimClient client : world.clients) {
      max = Math.max(max, client.rounds);
    }
    return max;
  }

  private boolean isHeld() {
    return contenders.stream().anyMatch(c -> c.grantedAt != 0);
  }

  /** All ask for the free name within the time of one message; ends when one of them has it. */
  static Sample collide(long seed, int clients) {
    Collisions c = new Collisions(seed, clients);
    long start = c.world.now;
    long before = c.commands();
    for (Contender contender : c.contenders) {
      contender.wants(start + c.world.rng.between(0, JITTER), 20 * Scenario.SECOND);
    }
    while (!c.isHeld()) {
      c.world.runUntil(c.world.now + 10 * MICROS);
      if (c.world.now - start > 30 * Scenario.SECOND) {
        throw new Violation("liveness", "not settled within 30 s");
      }
    }
    return new Sample(c.world.now - start, c.commands() - before, c.rounds());
  }

  /** One process holds, the others wait; ends when each of them has had the lock. */
  static List<Sample> handOver(long seed, int waiting, boolean homeHung) {
    Collisions c = new Collisions(seed, waiting + 1);
    long start = c.world.now;
    c.contenders.get(0).wants(start, 200 * Scenario.MS);
    for (Contender contender : c.contenders.subList(1, waiting + 1)) {
      contender.wants(start + c.world.rng.between(20, 100) * Scenario.MS, 5 * Scenario.MS);
    }
    if (homeHung) {
      c.world.runUntil(start + 150 * Scenario.MS);
      c.home().pause(60 * Scenario.SECOND);
    }
    List<Sample> samples = new ArrayList<>();
    int served = 1;
    long released = 0;
    c.world.runUntil(start + 199 * Scenario.MS);
    long before = c.commands();
    int roundsBefore = c.rounds();
    while (served <= waiting) {
      c.world.runUntil(c.world.now + 10 * MICROS);
      if (c.world.now - start > 120 * Scenario.SECOND) {
        throw new Violation("liveness", served - 1 + " of " + waiting + " served within 120 s");
      }
      for (Contender contender : c.contenders) {
        released = Math.max(released, contender.releasedAt);
      }
      long had = c.contenders.stream().filter(x -> x.grantedAt != 0).count();
      if (had > served) {
        served++;
        samples.add(
            new Sample(c.world.now - released, c.commands() - before, c.rounds() - roundsBefore));
        before = c.commands();
        roundsBefore = c.rounds();
      }
    }
    return samples;
  }

  private SimNode home() {
    int best = 0;
    long max = Long.MIN_VALUE;
    for (int i = 0; i < NODES; i++) {
      long asked = 0;
      for (SimClient client : world.clients) {
        asked += client.links[i].sent;
      }
      if (asked > max) {
        max = asked;
        best = i;
      }
    }
    return world.nodes[best];
  }
}
