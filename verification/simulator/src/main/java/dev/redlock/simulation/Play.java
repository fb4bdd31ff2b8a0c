package dev.redlock.simulation;

import dev.redlock.AcquireReport;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.harness.model.NodeModel;
import dev.redlock.internal.protocol.Effect;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Waiter;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.List;

/**
 * A history written by hand: a simulated world without random faults, and a script that holds
 * messages, cuts links and stops nodes. The checker runs as in random histories.
 */
final class Play {
  static final LockKeys A = LockKeys.of("redlock", List.of("a"));

  /** Rendezvous hash of {@code redlock:{a}} over n1, n2, n3. */
  static final int HOME_OF_A = 2;

  final World world;

  Play(int nodes, int clients, LockOptions.Builder options) {
    this(new Scenario(nodes, clients, options.build()));
  }

  private Play(Scenario scenario) {
    world = new World(new Rng(7), scenario, true);
    world.faults = false;
  }

  /**
   * The nodes are shards of one cluster: a shard that fails over has the data that its replica had
   * at the last {@link SimNode#takeCheckpoint()}.
   *
   * @param guard off: a promoted shard votes at once; otherwise clients that were connected
   *     quarantine it
   */
  static Play ofShards(int nodes, int clients, LockOptions.Builder options, RestartGuard guard) {
    return new Play(new Scenario(nodes, clients, options.build(), Scenario.MS / 2, 0, guard));
  }

  /** Options of a lease of one second without automatic extension. */
  static LockOptions.Builder options() {
    return LockOptions.builder()
        .leaseTime(Duration.ofSeconds(1))
        .nodeTimeout(Duration.ofMillis(100))
        .autoExtend(false);
  }

  /** Lets all clients connect. */
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

  /** A new caller in this process. */
  Person person(int client) {
    return new Person(world.clients[client]);
  }

  /** A new caller in this process wants the lock, and 5 ms pass: it holds it or is queued. */
  Person asks(int client, long waitMillis) {
    Person person = person(client);
    person.wants(waitMillis);
    run(5);
    return person;
  }

  /** No invalidation reaches this process any more. */
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

  /** Executes an acquire on one node. */
  static NodeReply acquire(NodeModel m, String id, long token, long now) {
    return m.execute(new LockRequest.Acquire(A, id, token, 1000, null), 1, 1, now);
  }

  static void require(boolean holds, String what) {
    if (!holds) {
      throw new Violation("history", what);
    }
  }

  /** A caller that acts when the script says so. */
  final class Person {
    final SimClient client;
    HeldLease lease;
    AcquireReport refusal;
    Effect.Result released;
    Effect.Result extended;
    private Wish wish;
    private SimLock lock;

    Person(SimClient client) {
      this.client = client;
    }

    private final class Wish extends Waiter implements SimUser.Asker {
      Wish(SimLock lock, long now, long deadline, boolean singleTry) {
        super(lock.keys, world.scenario.config, now, deadline, singleTry);
      }

      @Override
      public void granted(HeldLease granted) {
        require(lease == null || lease.end() != null, "got two replies");
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

    Person asks(int keySet, long waitMillis, boolean singleTry) {
      lock = client.lock(keySet);
      long now = client.mono();
      wish = new Wish(lock, now, now + waitMillis * Scenario.MS, singleTry);
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

    /** Whether the lease is valid now, as its holder sees it. */
    boolean holds() {
      return lease != null && client.remaining(lease) > 0;
    }

    LeaseEnd end() {
      return lease == null ? null : lease.end();
    }

    void extends_() {
      lock.act((m, now, wall) -> m.extend(lease, ack(outcome -> extended = outcome), now, wall));
    }

    void releases() {
      lease.askRelease();
      lock.act((m, now, wall) -> m.release(lease, ack(outcome -> released = outcome), now, wall));
    }

    private SimAck ack(SimAck.Callback callback) {
      return new SimAck(client, "ack", callback);
    }

    /** Requires a valid lease. */
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
