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
      assertThatThrownBy(() -> lock.acquire(WAIT))
          .isInstanceOfSatisfying(
              LockQueueFullException.class,
              e -> assertThat(e.report().queuedBefore()).isEqualTo(1));
      first.close();
      Lease second = next.get(5, TimeUnit.SECONDS);
      assertThat(first.whenEnded().toCompletableFuture().get(5, TimeUnit.SECONDS))
          .isIn(LeaseEnd.HANDED_OFF, LeaseEnd.RELEASED);
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
