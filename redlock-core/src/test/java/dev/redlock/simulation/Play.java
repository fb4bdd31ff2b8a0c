package dev.redlock.simulation;

import dev.redlock.AcquireReport;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Order;
import dev.redlock.internal.protocol.Waiter;
import java.time.Duration;

/**
 * A history written by hand: the simulated world, in which nothing goes wrong by itself, and a
 * script that holds messages, cuts links and stops nodes. All that must always hold is checked as
 * it is in random histories.
 */
final class Play {
  final World world;

  Play(int nodes, int clients, LockOptions.Builder options) {
    world = new World(new Rng(7), new Scenario(nodes, clients, options.build()), true);
    world.faults = false;
  }

  /** Options of a lease of one second that is not extended by itself. */
  static LockOptions.Builder options() {
    return LockOptions.builder()
        .leaseTime(Duration.ofSeconds(1))
        .nodeTimeout(Duration.ofMillis(100))
        .autoExtend(false);
  }

  /** All connect. */
  Play start() {
    for (SimClient client : world.clients) {
      client.start();
    }
    run(10);
    return this;
  }

  void run(long millis) {
    world.runUntil(world.now + millis * Scenario.MS);
  }

  SimNode node(int number) {
    return world.nodes[number - 1];
  }

  SimLink link(Person person, int node) {
    return person.client.links[node - 1];
  }

  /** Somebody new in this process. */
  Person person(int client) {
    return new Person(world.clients[client]);
  }

  /** Nothing that a node pushes reaches this process. */
  void deafen(Person person) {
    for (SimLink link : person.client.links) {
      link.deaf = true;
    }
  }

  String owner(int node) {
    return node(node).model.owner("redlock:{a}", node(node).clock());
  }

  long fence(int node) {
    return node(node).model.fence("redlock:{a}", node(node).clock());
  }

  long ended(int node) {
    return node(node).model.ended("redlock:{a}", node(node).clock());
  }

  static void require(boolean holds, String what) {
    if (!holds) {
      throw new Violation("history", what);
    }
  }

  /** One who wants the lock when the script says so. */
  final class Person {
    final SimClient client;
    HeldLease lease;
    AcquireReport refusal;
    Order.Outcome released;
    Order.Outcome extended;
    private Wish wish;
    private SimLock lock;

    Person(SimClient client) {
      this.client = client;
    }

    private final class Wish extends Waiter implements SimUser.Asker {
      Wish(SimLock lock, long now, long deadline, boolean once) {
        super(lock.keys, world.scenario.terms, now, deadline, once);
      }

      @Override
      public void granted(HeldLease granted) {
        require(lease == null || lease.end() != null, "answered twice");
        lease = granted;
      }

      @Override
      public void refused(AcquireReport report) {
        refusal = report;
      }
    }

    Person wants(long waitMillis) {
      return asks(0, waitMillis, false);
    }

    Person tries() {
      return asks(0, 1000, true);
    }

    Person asks(int keySet, long waitMillis, boolean once) {
      lock = client.lock(keySet);
      long now = client.mono();
      wish = new Wish(lock, now, now + waitMillis * Scenario.MS, once);
      Wish w = wish;
      refusal = null;
      lock.act((m, at, wall) -> m.submit(w, at, wall));
      return this;
    }

    boolean cancels() {
      boolean[] done = new boolean[1];
      lock.act((m, now, wall) -> done[0] = m.cancel(wish, now, wall));
      return done[0];
    }

    /** Whether the lease, as its holder sees it, is good now. */
    boolean holds() {
      return lease != null && client.remaining(lease) > 0;
    }

    LeaseEnd end() {
      return lease == null ? null : lease.end();
    }

    void extends_() {
      lock.act((m, now, wall) -> m.extend(lease, ticket(outcome -> extended = outcome), now, wall));
    }

    void releases() {
      lease.askRelease();
      lock.act(
          (m, now, wall) -> m.release(lease, ticket(outcome -> released = outcome), now, wall));
    }

    private SimTicket ticket(SimTicket.Told told) {
      return new SimTicket(client, "ticket", told);
    }

    /** Requires the lease, and that it is good. */
    Person mustHold(String why) {
      require(holds(), why + (refusal == null ? "" : ": " + refusal.sentence()));
      return this;
    }

    Person mustNotHold(String why) {
      require(!holds(), why);
      return this;
    }
  }
}
