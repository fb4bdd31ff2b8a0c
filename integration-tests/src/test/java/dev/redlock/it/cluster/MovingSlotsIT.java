package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Clients;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Slots move to other masters, or lose theirs, while callers hold and wait for names in them. */
class MovingSlotsIT {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final LockOptions LAZY =
      LockOptions.builder()
          .pollInterval(Duration.ofMinutes(1)) // Cut to a third of the lease time, 10 s.
          .nodeTimeout(Duration.ofSeconds(1))
          .build();

  private static RedisClusterNodes cluster;

  @BeforeAll
  static void start() {
    // On a starved machine no master must count as failed.
    cluster = RedisClusterNodes.builder().replicas(0).nodeTimeout(Duration.ofSeconds(15)).start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  private static final int CLIENTS = 8;
  private static final int NAMES = 1_000;

  /** These few names always have waiters; among a thousand names, no two callers would meet. */
  private static final int HOT = 4;

  private static final int BETWEEN_HOT = 5;

  /** State that only the locks protect; a double grant would show in each of the three. */
  private static final class Shop {
    final int[] counters = new int[NAMES];
    final long[] tokens = new long[NAMES];
    final AtomicIntegerArray inside = new AtomicIntegerArray(NAMES);
    final AtomicIntegerArray visits = new AtomicIntegerArray(NAMES);
    final List<Throwable> failures = new CopyOnWriteArrayList<>();

    void visit(Redlock redlock, int name) {
      visits.incrementAndGet(name);
      var lock = redlock.lock("goods_{" + name + "}", LAZY);
      try (Lease lease = lock.acquire(WAIT)) {
        int others = inside.getAndIncrement(name);
        int seen = counters[name];
        long before = tokens[name];
        tokens[name] = lease.fencingToken().value();
        LockSupport.parkNanos(name < HOT ? 2_000_000 : 100_000);
        counters[name] = seen + 1;
        inside.decrementAndGet(name);
        lease.ensureValid();
        assertThat(others).as("others inside of " + name).isZero();
        assertThat(lease.fencingToken().value()).as("token of " + name).isGreaterThan(before);
      } catch (RuntimeException | AssertionError e) {
        failures.add(e);
      }
    }
  }

  @Tag("thorough")
  @Test
  void thousandNames_whileSlotsMove_areEachLockedExactly() throws Exception {
    Shop shop = new Shop();
    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger moved = new AtomicInteger();
    List<Redlock> all = new ArrayList<>();
    long seed = System.nanoTime();
    long begin = System.nanoTime();
    Thread mover = new Thread(() -> moveSlots(seed, done, moved, shop.failures), "mover");
    try {
      for (int c = 0; c < CLIENTS; c++) {
        all.add(ClusterClients.start(cluster));
      }
      mover.start();
      List<Thread> workers = new ArrayList<>();
      for (int c = 0; c < CLIENTS; c++) {
        Redlock redlock = all.get(c);
        List<Integer> order =
            new ArrayList<>(IntStream.range(0, NAMES).mapToObj(Integer::valueOf).toList());
        Collections.shuffle(order, new Random(seed + c));
        for (int half = 0; half < 2; half++) {
          List<Integer> part = order.subList(half * NAMES / 2, (half + 1) * NAMES / 2);
          Random random = new Random(seed + CLIENTS + 2L * c + half);
          Thread worker =
              new Thread(
                  () -> {
                    for (int name : part) {
                      shop.visit(redlock, name);
                      if (random.nextInt(BETWEEN_HOT) == 0) {
                        shop.visit(redlock, random.nextInt(HOT));
                      }
                    }
                  });
          worker.start();
          workers.add(worker);
        }
      }
      for (Thread worker : workers) {
        worker.join();
      }
    } finally {
      done.set(true);
      mover.join();
      all.forEach(Redlock::close);
    }
    System.out.printf(
        "cluster: %d sections while %d slots moved, %d ms (seed %d)%n",
        IntStream.of(shop.counters).sum(),
        moved.get(),
        (System.nanoTime() - begin) / 1_000_000,
        seed);
    assertThat(shop.failures).isEmpty();
    assertThat(shop.counters)
        .containsExactly(IntStream.range(0, NAMES).map(shop.visits::get).toArray());
    assertThat(moved.get()).isGreaterThan(30);
  }

  private static void moveSlots(
      long seed, AtomicBoolean done, AtomicInteger moved, List<Throwable> failures) {
    Random random = new Random(seed);
    List<RedisNode> masters = cluster.masters();
    try {
      while (!done.get()) {
        int name = random.nextInt(random.nextBoolean() ? HOT : NAMES);
        int slot = RedisClusterNodes.slot(Integer.toString(name));
        cluster.moveSlot(slot, masters.get(random.nextInt(masters.size())));
        moved.incrementAndGet();
      }
    } catch (RuntimeException e) {
      failures.add(e);
    }
  }

  @Test
  void subscriptions_slotsOfOneMasterMoveAway_orTheirConnectionBreaks_areMadeAgain()
      throws Exception {
    RedisNode master = cluster.masters().get(0);
    List<String> names =
        IntStream.range(0, 1_000)
            .mapToObj(i -> "moving-" + i)
            .filter(name -> cluster.masterOf(Clients.lockKey(name)) == master)
            .limit(3)
            .toList();
    try (Redlock one = ClusterClients.startDeaf(cluster, ClusterReleaseHints.SHARDED_PUBSUB);
        Redlock two = ClusterClients.startDeaf(cluster, ClusterReleaseHints.SHARDED_PUBSUB)) {
      List<Lease> held = new ArrayList<>();
      List<CompletableFuture<Lease>> waiting = new ArrayList<>();
      for (String name : names) {
        held.add(one.lock(name, LAZY).acquire(WAIT));
        waiting.add(two.lock(name, LAZY).acquireAsync(WAIT));
      }
      for (String name : names) {
        ClusterClients.eventually(cluster, SOON, () -> isHeardAt(master, name));
      }

      master.command("CLIENT", "KILL", "TYPE", "pubsub");
      for (String name : names) {
        ClusterClients.eventually(cluster, SOON, () -> isHeardAt(master, name));
      }

      RedisNode second = cluster.masters().get(1);
      RedisNode third = cluster.masters().get(2);
      List<RedisNode> homes = List.of(second, third, master);
      cluster.moveSlot(RedisClusterNodes.slot(Clients.lockKey(names.get(0))), second);
      cluster.moveSlot(RedisClusterNodes.slot(Clients.lockKey(names.get(1))), third);
      for (int i = 0; i < names.size(); i++) {
        String name = names.get(i);
        RedisNode home = homes.get(i);
        ClusterClients.eventually(cluster, SOON, () -> isHeardAt(home, name));
        assertThat(waiting.get(i)).isNotDone();
        held.get(i).close();
        waiting.get(i).get(4, TimeUnit.SECONDS).close(); // The poll comes after 5 to 15 s.
      }
    }
  }

  private static boolean isHeardAt(RedisNode node, String name) {
    return node.command("PUBSUB", "SHARDNUMSUB", Clients.lockKey(name) + ":freed")
            instanceof List<?> pair
        && pair.get(1).equals(1L);
  }

  @Test
  void slotWithoutMaster_isAClearRefusal_leasesContinueWhenItIsServedAgain() throws Exception {
    try (Redlock redlock = ClusterClients.start(cluster)) {
      Lease held = redlock.lock("{down}", LAZY).acquire(WAIT);
      RedisNode master = cluster.masterOf("{down}");
      String slot = Integer.toString(RedisClusterNodes.slot("{down}"));
      CompletableFuture<Lease> waiting = redlock.lock("{down}_2").acquireAsync(WAIT);
      waiting.get(5, TimeUnit.SECONDS).close();
      master.command("CLUSTER", "DELSLOTS", slot);
      try {
        long before = held.remainingValidity().toNanos() + System.nanoTime();
        assertThatThrownBy(() -> redlock.lock("{down}_2", LAZY).tryAcquire())
            .isInstanceOf(QuorumUnavailableException.class)
            .message()
            .containsAnyOf("CLUSTERDOWN", "no known master serves slot " + slot);
        assertThatThrownBy(() -> held.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS))
            .as("extended while no master serves it")
            .isNotNull();
        assertThat(System.nanoTime() + held.remainingValidity().toNanos())
            .isLessThan(before + 1_000_000);
        assertThat(held.isValid()).isTrue();
        waiting = redlock.lock("{down}_2").acquireAsync(WAIT);
      } finally {
        master.command("CLUSTER", "ADDSLOTS", slot);
        cluster.awaitReady();
      }
      waiting.get(20, TimeUnit.SECONDS).close();
      held.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
      assertThat(held.isValid()).isTrue();
      held.close();
    }
  }
}
