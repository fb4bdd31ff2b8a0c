package dev.redlock.it.failures;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockException;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterNodes;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.operations.NodeState.State;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.ServerState;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Transports;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients lock and count on one cluster while its shards fail over and lose writes, one shard after
 * another. Each failover first blocks the replication of one master, lets the clients acquire
 * leases that only this master knows, then takes the master away and promotes its replica at once.
 * Meanwhile two of the clients are frozen, like processes in a pause, so that they cannot repair
 * their leases before the other clients ask for the locks. The restart guard is off: nothing
 * protects the leases but the protocol and, in spread mode, the quarantine of promoted masters.
 *
 * <p>The counters are not atomic, and the holders are compared in memory. So an overlap is two
 * leases of one name that are valid at the same moment, without any tolerance.
 */
final class ShardFailures {
  /** How the clients use the cluster. */
  enum Mode {
    /** One node, and one shard for each name: the control. */
    SINGLE(1),
    SPREAD_3(3),
    SPREAD_5(5);

    private final int nodes;

    Mode(int nodes) {
      this.nodes = nodes;
    }

    private LockNode[] connect(List<String> uris, ClusterOptions options) {
      return this == SINGLE
          ? new LockNode[] {ClusterLockNode.connect(uris, options)}
          : ClusterNodes.spread(nodes).connect(uris, options);
    }
  }

  /** How the master is taken away after it has got writes that its replica does not have. */
  enum Fault {
    /** Killed, and started again, empty. */
    KILL,
    /** Stopped, and continued after its replica was promoted: it replies late. */
    PAUSE,
    /** Cut off from clients and replicas without a reset, and reachable again later. */
    CUT
  }

  /**
   * What to run.
   *
   * @param masters the number of masters, each with one replica
   * @param untilOverlap whether the first overlap ends the run
   */
  record Plan(
      Mode mode, int masters, int failovers, List<Fault> faults, long seed, boolean untilOverlap) {}

  /**
   * The results of a run.
   *
   * @param lostBytes writes that a master had and its replica did not have at a failover, in bytes
   *     of the replication stream; there are some at each failover
   * @param lostUpdates sections that counted, but whose count was overwritten
   */
  record Result(
      Plan plan,
      int failovers,
      long lostBytes,
      long millis,
      long sections,
      long refused,
      long ended,
      long overlaps,
      long fallingTokens,
      long lostUpdates) {
    String line() {
      return "shards: mode="
          + plan.mode()
          + " masters="
          + plan.masters()
          + " faults="
          + plan.faults()
          + " seed="
          + plan.seed()
          + " failovers="
          + failovers
          + " lostBytes="
          + lostBytes
          + " seconds="
          + millis / 1000
          + " sections="
          + sections
          + " refused="
          + refused
          + " endedEarly="
          + ended
          + " overlaps="
          + overlaps
          + " fallingTokens="
          + fallingTokens
          + " lostUpdates="
          + lostUpdates;
    }
  }

  private static final int SLOTS = 16_384;
  private static final int CLIENTS = 4;
  private static final int THREADS_PER_CLIENT = 8;
  private static final int NAMES = 40;
  private static final Duration WAIT = Duration.ofSeconds(2);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long FROZEN_MILLIS = 700;

  /** A third of the lease time. */
  private static final long EXTENSION_MILLIS = 1_000;

  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .leaseTime(Duration.ofSeconds(3))
          .nodeTimeout(Duration.ofMillis(200))
          .build();

  /** The resource that one name protects. */
  private static final class Cell {
    private final AtomicReference<Lease> holder = new AtomicReference<>();
    private final LongAdder counted = new LongAdder();

    /** Read and written under the lock only, in two steps. */
    private volatile long count;

    private long highestToken;

    synchronized boolean isBelowTheHighest(Lease lease) {
      long token = lease.fencingToken().value();
      boolean below = token < highestToken && lease.isValid();
      highestToken = Math.max(highestToken, token);
      return below;
    }
  }

  private final Plan plan;
  private final Random random;
  private final List<Cell> cells = new ArrayList<>();
  private final LongAdder sections = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder ended = new LongAdder();
  private final LongAdder falling = new LongAdder();
  private final AtomicInteger overlaps = new AtomicInteger();
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private volatile boolean over;
  private int done;
  private long lostBytes;

  ShardFailures(Plan plan) {
    this.plan = plan;
    random = new Random(plan.seed());
    for (int i = 0; i < NAMES; i++) {
      cells.add(new Cell());
    }
  }

  Result run() throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Frozen> clients = new ArrayList<>();
    try (RedisClusterNodes cluster =
        RedisClusterNodes.builder()
            .masters(plan.masters())
            .replicas(plan.masters())
            .gated(plan.faults().contains(Fault.CUT))
            .nodeTimeout(Duration.ofSeconds(5)) // No failover but those of this class.
            .start()) {
      long begin = System.nanoTime();
      try {
        for (int i = 0; i < CLIENTS; i++) {
          clients.add(client(cluster));
        }
        for (Frozen client : clients) {
          for (int i = 0; i < THREADS_PER_CLIENT; i++) {
            long seed = random.nextLong();
            Thread thread =
                new Thread(() -> work(client.redlock(), new Random(seed)), "section-" + i);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
          }
        }
        failOver(cluster, clients);
      } finally {
        over = true;
        for (Thread thread : threads) {
          thread.join(20_000);
        }
        clients.forEach(Frozen::close);
      }
      if (!failures.isEmpty()) {
        throw new AssertionError("a worker failed", failures.get(0));
      }
      return result((System.nanoTime() - begin) / 1_000_000);
    }
  }

  private Result result(long millis) {
    long lost = cells.stream().mapToLong(cell -> cell.counted.sum() - cell.count).sum();
    return new Result(
        plan,
        done,
        lostBytes,
        millis,
        sections.sum(),
        refused.sum(),
        ended.sum(),
        overlaps.get(),
        falling.sum(),
        lost);
  }

  /** A client, with I/O threads of its own that can be frozen. */
  private record Frozen(Redlock redlock, ClientResources resources) {
    /** Returns at once; the I/O threads do nothing for this time. */
    private void freeze(long millis) {
      EventLoopGroup threads =
          resources.eventLoopGroupProvider().allocate(Transports.eventLoopGroupClass());
      for (EventExecutor thread : threads) {
        thread.execute(() -> LockSupport.parkNanos(millis * 1_000_000));
      }
      resources.eventLoopGroupProvider().release(threads, 0, 0, TimeUnit.SECONDS);
    }

    private void close() {
      redlock.close();
      resources.shutdown(100, 2_000, TimeUnit.MILLISECONDS);
    }
  }

  private Frozen client(RedisClusterNodes cluster) {
    ClientResources resources =
        ClientResources.builder().ioThreadPoolSize(2).computationThreadPoolSize(2).build();
    ClusterOptions options =
        ClusterOptions.builder()
            .lettuce(LettuceOptions.builder().clientResources(resources).build())
            .build();
    return new Frozen(start(cluster, options), resources);
  }

  private Redlock start(RedisClusterNodes cluster, ClusterOptions options) {
    return Clients.voting(
        Redlock.builder()
            .nodes(plan.mode().connect(cluster.uris(), options))
            .restartGuard(RestartGuard.OFF)
            .defaults(OPTIONS)
            .maxLeaseTime(OPTIONS.leaseTime()) // A promoted master is quarantined for 5 s.
            .build(),
        plan.mode().nodes);
  }

  // The load.

  private void work(Redlock client, Random rng) {
    try {
      while (!over) {
        int name = rng.nextInt(NAMES);
        DistributedLock lock = client.lock("shards:" + name);
        try (Lease lease = lock.acquire(WAIT)) {
          section(cells.get(name), lease, rng);
        } catch (RedlockException e) {
          refused.increment();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      failures.add(e);
    }
  }

  private void section(Cell cell, Lease lease, Random rng) throws InterruptedException {
    Lease before = cell.holder.getAndSet(lease);
    // Both at the same moment: the second was granted before the first one was asked.
    if (before != null && before.isValid() && lease.isValid()) {
      overlaps.incrementAndGet();
    }
    if (cell.isBelowTheHighest(lease)) {
      falling.increment();
    }
    long value = cell.count;
    Thread.sleep(rng.nextInt(20) == 0 ? 2_000 : 300 + rng.nextInt(900));
    if (lease.isValid()) {
      cell.count = value + 1;
      cell.counted.increment();
    } else {
      ended.increment();
    }
    sections.increment();
    cell.holder.compareAndSet(lease, null);
  }

  // The failovers.

  private void failOver(RedisClusterNodes cluster, List<Frozen> clients) throws Exception {
    for (int i = 0; i < plan.failovers() && failures.isEmpty(); i++) {
      int shard = random.nextInt(plan.masters());
      int slot = shard * (SLOTS / plan.masters()) + SLOTS / plan.masters() / 2;
      Fault fault = plan.faults().get(random.nextInt(plan.faults().size()));
      fail(cluster, slot, fault, List.of(clients.get(i % CLIENTS), clients.get((i + 1) % CLIENTS)));
      done++;
      // One shard at a time: the next one fails when the clients have repaired their leases. A
      // client that is still frozen has not noticed yet that a master is gone.
      Thread.sleep(FROZEN_MILLIS);
      for (Frozen client : clients) {
        awaitVotes(client.redlock(), cluster, fault);
      }
      Thread.sleep(EXTENSION_MILLIS + 300); // Each lease is extended, and repaired, once more.
      if (done % 20 == 0) {
        System.out.println(result(0).line());
      }
      if (plan.untilOverlap() && overlaps.get() > 0) {
        return;
      }
    }
  }

  private void awaitVotes(Redlock client, RedisClusterNodes cluster, Fault fault) {
    Eventually.holds(
        () -> client.operations().nodes().stream().allMatch(node -> node.state() == State.VOTING),
        PATIENCE,
        () -> "after " + fault + ": " + client.operations().nodes() + "\n" + cluster.describe());
  }

  private void fail(RedisClusterNodes cluster, int slot, Fault fault, List<Frozen> frozen)
      throws Exception {
    RedisNode master = cluster.masterOf(slot);
    RedisNode replica = replicaInStep(cluster, master);
    master.command("ACL", "SETUSER", "default", "-psync", "-sync");
    master.command("CLIENT", "KILL", "TYPE", "replica");
    Thread.sleep(150 + random.nextInt(300)); // The clients acquire leases that only the master has.
    Eventually.holds(() -> lostBytes(master, replica) > 0, PATIENCE, cluster::describe);
    long lost = lostBytes(master, replica);
    frozen.forEach(client -> client.freeze(FROZEN_MILLIS));
    switch (fault) {
      case KILL -> master.kill();
      case PAUSE -> master.pause();
      case CUT -> master.gate().blackHole();
    }
    replica.command("CLUSTER", "FAILOVER", "TAKEOVER");
    lostBytes += lost;
    Eventually.holds(
        () ->
            cluster.stream()
                .filter(node -> node.state() == ServerState.RUNNING && node != master)
                .allMatch(node -> servedBy(node, slot, replica)),
        PATIENCE,
        cluster::describe);
    if (fault != Fault.KILL) {
      Thread.sleep(random.nextInt(800)); // The clients have continued when the master comes back.
    }
    switch (fault) {
      case KILL -> master.restart();
      case PAUSE -> master.resume();
      case CUT -> master.gate().endFaults();
    }
    master.command("ACL", "SETUSER", "default", "+psync", "+sync");
    Eventually.holds(() -> servedBy(master, slot, replica), PATIENCE, cluster::describe);
  }

  private static RedisNode replicaInStep(RedisClusterNodes cluster, RedisNode master) {
    AtomicReference<RedisNode> found = new AtomicReference<>();
    Eventually.holds(
        () -> {
          for (RedisNode node : cluster) {
            if (node.state() == ServerState.RUNNING
                && node.command("ROLE") instanceof List<?> role
                && role.get(0).equals("slave")
                && role.get(2).equals((long) master.port())
                && role.get(3).equals("connected")) {
              found.set(node);
              return true;
            }
          }
          return false;
        },
        PATIENCE,
        cluster::describe);
    return found.get();
  }

  private static boolean servedBy(RedisNode asked, int slot, RedisNode owner) {
    if (asked.command("CLUSTER", "SLOTS") instanceof List<?> ranges) {
      for (Object range : ranges) {
        if (range instanceof List<?> words
            && (Long) words.get(0) <= slot
            && slot <= (Long) words.get(1)
            && words.get(2) instanceof List<?> server) {
          return server.get(1).equals((long) owner.port());
        }
      }
    }
    return false;
  }

  /** What the master has written since its replica was cut off. */
  private static long lostBytes(RedisNode master, RedisNode replica) {
    return offset(master, "master_repl_offset") - offset(replica, "slave_repl_offset");
  }

  private static long offset(RedisNode node, String field) {
    return String.valueOf(node.command("INFO", "replication"))
        .lines()
        .filter(line -> line.startsWith(field + ":"))
        .mapToLong(line -> Long.parseLong(line.substring(field.length() + 1).strip()))
        .findFirst()
        .orElse(0);
  }
}
