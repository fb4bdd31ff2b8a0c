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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
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
