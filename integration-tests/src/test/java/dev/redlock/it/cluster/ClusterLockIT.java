package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.LockQueueFullException;
import dev.redlock.Redlock;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Clients;
import dev.redlock.it.Commands;
import dev.redlock.it.LeastUser;
import dev.redlock.operations.LockInspection;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The lock on a healthy cluster. */
class ClusterLockIT {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final LockOptions LAZY =
      LockOptions.builder()
          .pollInterval(Duration.ofMinutes(1))
          .nodeTimeout(Duration.ofSeconds(1)) // The machine may be busy with other builds.
          .build();

  private static RedisClusterNodes cluster;

  @BeforeAll
  static void start() {
    // On a starved machine no replica must be promoted.
    cluster = RedisClusterNodes.builder().nodeTimeout(Duration.ofSeconds(15)).start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @Test
  void queueHandOffTokensAndReentrance_areAsOnIndependentMasters() throws Exception {
    try (Redlock redlock = ClusterClients.start(cluster);
        Redlock other = ClusterClients.start(cluster)) {
      DistributedLock lock = redlock.lock("queue", LAZY.toBuilder().queueBound(1).build());
      Lease first = lock.acquire(WAIT);
      assertThat(other.lock("queue", LAZY).tryAcquire()).isEmpty();
      CompletableFuture<Lease> next = lock.acquireAsync(WAIT);
      assertThatThrownBy(() -> lock.acquire(WAIT)).isInstanceOf(LockQueueFullException.class);
      first.close();
      Lease second = next.get(5, TimeUnit.SECONDS);
      assertThat(first.whenEnded().toCompletableFuture().get(5, TimeUnit.SECONDS))
          .isEqualTo(LeaseEnd.HANDED_OFF);
      assertThat(second.fencingToken().value()).isGreaterThan(first.fencingToken().value());
      second.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
      second.close();
      try (Lease third = other.lock("queue").acquire(WAIT)) {
        assertThat(third.fencingToken().value()).isGreaterThan(second.fencingToken().value());
        LockInspection seen =
            other.operations().inspect("queue").toCompletableFuture().get(5, TimeUnit.SECONDS);
        assertThat(seen.quorum()).isEqualTo(1);
        assertThat(seen.nodes()).hasSize(1);
        assertThat(seen.nodes().get(0).holder()).isNotNull();
        assertThat(seen.nodes().get(0).highestTokenSeen()).isEqualTo(third.fencingToken().value());
      }

      ReentrantDistributedLock reentrant = redlock.reentrantLock("again");
      reentrant.lock();
      reentrant.lock();
      reentrant.unlock();
      assertThat(other.lock("again", LAZY).tryAcquire()).isEmpty();
      reentrant.unlock();
      other.lock("again").acquire(WAIT).close();
    }
  }

  @Test
  void clientList_showsTheLabel() {
    try (Redlock redlock =
        Clients.voting(
            ClusterClients.on(cluster.uris(), ClusterOptions.defaults())
                .label("orders@pod-3")
                .build(),
            1)) {
      assertThat(cluster.masters())
          .allSatisfy(
              master ->
                  assertThat(String.valueOf(master.command("CLIENT", "LIST")))
                      .contains(" name=orders@pod-3 "));
    }
  }

  @Test
  void fairLock_servesProcessesInTheOrderTheyCame() throws Exception {
    LockOptions fair = LAZY.toBuilder().fair(true).build();
    List<Redlock> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 4; i++) {
        clients.add(ClusterClients.start(cluster));
      }
      Lease held = clients.get(0).lock("fair", fair).acquire(WAIT);
      List<CompletableFuture<Lease>> waiting = new ArrayList<>();
      List<Integer> served = new CopyOnWriteArrayList<>();
      for (int i = 1; i < 4; i++) {
        int process = i;
        long standing = i;
        waiting.add(
            clients
                .get(i)
                .lock("fair", fair)
                .acquireAsync(WAIT)
                .thenApply(
                    lease -> {
                      served.add(process); // Before the lease can be closed.
                      return lease;
                    }));
        RedisNode master = cluster.masterOf(Clients.lockKey("fair"));
        ClusterClients.eventually(
            cluster,
            Duration.ofSeconds(5),
            () -> Long.valueOf(standing).equals(master.command("ZCARD", Clients.queueKey("fair"))));
      }
      held.close();
      for (CompletableFuture<Lease> one : waiting) {
        one.get(10, TimeUnit.SECONDS).close();
      }
      assertThat(served).containsExactly(1, 2, 3);
    } finally {
      clients.forEach(Redlock::close);
    }
  }

  @Test
  void turns_areToldByKeysUnderTheTagOfTheName() throws Exception {
    LockOptions lazy = LAZY.toBuilder().pollInterval(Duration.ofMinutes(1)).build();
    List<Redlock> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 3; i++) {
        clients.add(ClusterClients.start(cluster));
      }
      String key = Clients.lockKey("turns");
      RedisNode master = cluster.masterOf(key);
      Lease held = clients.get(0).lock("turns", lazy).acquire(WAIT);
      List<CompletableFuture<Void>> served = new ArrayList<>();
      for (int i = 1; i < 3; i++) {
        served.add(
            clients.get(i).lock("turns", lazy).acquireAsync(WAIT).thenAccept(Lease::releaseAsync));
        Long queued = (long) i;
        ClusterClients.eventually(
            cluster,
            Duration.ofSeconds(5),
            () -> queued.equals(master.command("ZCARD", key + ":1:queue")));
      }
      held.close();
      CompletableFuture.allOf(served.toArray(CompletableFuture[]::new)).get(5, TimeUnit.SECONDS);
      assertThat((List<?>) master.command("KEYS", "redlock:{turns}:1:wake:*")).isNotEmpty();
      assertThat(master.command("ZCARD", key + ":1:queue")).isEqualTo(0L);
    } finally {
      clients.forEach(Redlock::close);
    }
  }

  @Test
  void severalNames_inDifferentSlots_areRefusedBeforeAnythingIsSent_inOneTheyAreNot() {
    try (Redlock redlock = ClusterClients.start(cluster)) {
      long before = Commands.on(cluster.masters());
      assertThatThrownBy(() -> redlock.lock(List.of("apples", "pears")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'apples'")
          .hasMessageContaining("slot " + RedisClusterNodes.slot("apples"))
          .hasMessageContaining("'pears'")
          .hasMessageContaining("slot " + RedisClusterNodes.slot("pears"));
      assertThat(Commands.on(cluster.masters())).isEqualTo(before);

      try (Lease lease = redlock.lock(List.of("apples_{fruit}", "pears_{fruit}")).acquire(WAIT)) {
        assertThat(redlock.lock("pears_{fruit}", LAZY).tryAcquire()).isEmpty();
        assertThat(lease.names()).hasSize(2);
      }
    }
  }

  @Test
  void tagOfTheName_choosesTheMaster() {
    try (Redlock redlock = ClusterClients.start(cluster);
        Lease lease = redlock.lock("buy_{42}").acquire(WAIT)) {
      assertThat(cluster.masterOf("{42}").key("redlock:{42}:buy_{}")).isPresent();
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void slotHalfMoved_holdersContinue_newNamesAreGranted() {
    try (Redlock redlock = ClusterClients.start(cluster)) {
      RedisNode from = cluster.masterOf("{half}");
      RedisNode to = cluster.masters().stream().filter(node -> node != from).findAny().get();
      int slot = RedisClusterNodes.slot("half");
      try (Lease lease = redlock.lock("a_{half}", LAZY).acquire(WAIT)) {
        cluster.openSlot(slot, from, to);
        lease.extendAsync().toCompletableFuture().join();
        redlock.lock("b_{half}", LAZY).acquire(WAIT).close();
        assertThat(redlock.lock("a_{half}", LAZY).tryAcquire()).isEmpty();
        cluster.moveKeys(slot, from, to);
        lease.extendAsync().toCompletableFuture().join(); // Redirected by ASK.
        assertThat(ClusterClients.stores(to, "redlock:{half}:a_{}")).isTrue();
        cluster.closeSlot(slot, to);
        lease.extendAsync().toCompletableFuture().join();
        redlock.lock("b_{half}", LAZY).acquire(WAIT).close();
        assertThat(lease.isValid()).isTrue();
      }
    }
  }

  @Test
  void doctor_oneMasterEvicts_reportsItForTheCluster() {
    RedisNode master = cluster.masters().get(0);
    try (Redlock redlock = ClusterClients.start(cluster)) {
      master.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
      ClusterClients.eventually(
          cluster,
          Duration.ofSeconds(10),
          () ->
              "allkeys-lru"
                  .equals(
                      redlock
                          .operations()
                          .doctor()
                          .toCompletableFuture()
                          .get(5, TimeUnit.SECONDS)
                          .nodes()
                          .get(0)
                          .evictionPolicy()));
    } finally {
      master.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }
  }

  @Test
  void leastPrivilegedUser_canDoEverything() throws Exception {
    for (RedisNode node : cluster) {
      node.command(LeastUser.command());
      node.command(
          "ACL",
          "SETUSER",
          "app",
          "&redlock:*",
          "+cluster|nodes",
          "+cluster|slots",
          "+asking",
          "+spublish",
          "+ssubscribe",
          "+sunsubscribe");
    }
    List<String> uris =
        cluster.uris().stream().map(uri -> uri.replace("redis://", "redis://app:secret@")).toList();
    try (Redlock one = ClusterClients.start(uris, ClusterOptions.defaults());
        Redlock two = ClusterClients.start(uris, ClusterOptions.defaults())) {
      Lease held = one.lock("least", LAZY).acquire(WAIT);
      CompletableFuture<Lease> waiting = two.lock("least", LAZY).acquireAsync(WAIT);
      ClusterClients.eventually(
          cluster,
          Duration.ofSeconds(5),
          () ->
              ClusterClients.subscribers(cluster, ClusterReleaseHints.SHARDED_PUBSUB, "least")
                  == 1);
      held.close();
      waiting.get(3, TimeUnit.SECONDS).close();
    }
  }

  /**
   * Commands that a client may send for a lock in addition to scripts, and that no script calls.
   */
  private static long otherCommands() {
    return cluster.masters().stream()
        .map(master -> String.valueOf(master.command("INFO", "commandstats")))
        .flatMap(
            stats ->
                Pattern.compile(
                        "cmdstat_(?:eval|wait|xread|xreadgroup|subscribe"
                            + "|ssubscribe|unsubscribe|sunsubscribe|asking):calls=(\\d+)")
                    .matcher(stats)
                    .results())
        .mapToLong(found -> Long.parseLong(found.group(1)))
        .sum();
  }

  @ParameterizedTest
  @EnumSource(ClusterReleaseHints.class)
  void release_withoutWaiters_isOneCommand(ClusterReleaseHints hints) throws Exception {
    try (Redlock redlock = ClusterClients.start(cluster, hints)) {
      DistributedLock lock = redlock.lock("alone-" + hints, LAZY);
      lock.acquire(WAIT).releaseAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
      long before = Commands.on(cluster.masters());
      long otherBefore = otherCommands();
      for (int i = 0; i < 50; i++) {
        lock.acquire(WAIT).releaseAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
      }
      assertThat(Commands.on(cluster.masters()) - before).isEqualTo(100);
      assertThat(otherCommands() - otherBefore)
          .as("commands about this lock beside the scripts")
          .isZero();
      assertThat(cluster.masterOf(Clients.lockKey("alone-" + hints)).keys())
          .allSatisfy(key -> assertThat(key.ttl()).as(key.name()).isPresent());
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = ClusterReleaseHints.class,
      names = {"SHARDED_PUBSUB", "PUBSUB"})
  void release_reachesTheNextHolder_byTheReleaseHintAlone(ClusterReleaseHints hints)
      throws Exception {
    List<Double> millis = new ArrayList<>();
    String name = "told-" + hints;
    try (Redlock one = ClusterClients.startDeaf(cluster, hints);
        Redlock two = ClusterClients.startDeaf(cluster, hints)) {
      DistributedLock mine = one.lock(name, LAZY);
      DistributedLock theirs = two.lock(name, LAZY);
      for (int i = 0; i < 60; i++) {
        boolean odd = i % 2 == 1;
        Lease held = (odd ? theirs : mine).acquire(WAIT);
        millis.add(handOver(held, odd ? mine : theirs, hints, name));
      }
    }
    report(hints + " alone", millis);
    // Faster than the poll, which comes after 5 s at the earliest; the exact time is printed above.
    assertThat(millis.get(millis.size() - 1)).isLessThan(4_000);
    assertThat(millis.get(millis.size() / 2)).isLessThan(100);
  }

  @Test
  void release_reachesTheNextHolder_byStreamAndInvalidation_orByThePollAlone() throws Exception {
    List<Double> streamed = new ArrayList<>();
    try (Redlock one = ClusterClients.start(cluster, ClusterReleaseHints.STREAM);
        Redlock two = ClusterClients.start(cluster, ClusterReleaseHints.STREAM)) {
      for (int i = 0; i < 50; i++) {
        Lease held = one.lock("streamed", LAZY).acquire(WAIT);
        streamed.add(
            handOver(held, two.lock("streamed", LAZY), ClusterReleaseHints.STREAM, "streamed"));
      }
    }
    report("STREAM and invalidations", streamed);
    assertThat(streamed.get(streamed.size() - 1)).isLessThan(4_000);
    assertThat(streamed.get(streamed.size() / 2)).isLessThan(100);

    List<Double> polled = new ArrayList<>();
    LockOptions polls = LAZY.toBuilder().pollInterval(Duration.ofMillis(400)).build();
    try (Redlock one = ClusterClients.startDeaf(cluster, ClusterReleaseHints.NONE);
        Redlock two = ClusterClients.startDeaf(cluster, ClusterReleaseHints.NONE)) {
      for (int i = 0; i < 5; i++) {
        Lease held = one.lock("polled", polls).acquire(WAIT);
        polled.add(handOver(held, two.lock("polled", polls), ClusterReleaseHints.NONE, "polled"));
      }
    }
    report("no hint, no invalidation, poll every 400 ms", polled);
    assertThat(polled.get(polled.size() / 2)).isGreaterThan(50);
  }

  /**
   * Releases while the other client waits; returns the time until that client is granted the lock.
   */
  private static double handOver(
      Lease held, DistributedLock next, ClusterReleaseHints hints, String name) throws Exception {
    RedisNode master = cluster.masterOf(Clients.lockKey(name));
    long before = Commands.on(master);
    CompletableFuture<Lease> waiting = next.acquireAsync(WAIT);
    boolean told =
        hints == ClusterReleaseHints.SHARDED_PUBSUB || hints == ClusterReleaseHints.PUBSUB;
    ClusterClients.eventually(
        cluster,
        Duration.ofSeconds(5),
        () ->
            Commands.on(master) > before
                && (!told || ClusterClients.subscribers(cluster, hints, name) >= 1));
    long begin = System.nanoTime();
    held.close();
    Lease lease = waiting.get(15, TimeUnit.SECONDS);
    double took = (System.nanoTime() - begin) / 1e6;
    lease.close();
    return took;
  }

  private static void report(String how, List<Double> millis) {
    Collections.sort(millis);
    System.out.printf(
        "cluster: release to next holder, %s: median %.2f ms, 99%% %.2f ms, most %.2f ms (n=%d)%n",
        how,
        millis.get(millis.size() / 2),
        millis.get(millis.size() * 99 / 100),
        millis.get(millis.size() - 1),
        millis.size());
  }
}
