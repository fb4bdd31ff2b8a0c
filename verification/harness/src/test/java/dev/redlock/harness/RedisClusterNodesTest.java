package dev.redlock.harness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.internal.Waiting;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RedisClusterNodesTest {

  @Test
  void cluster_slotMoved_masterKilled_replicaPromoted_servesAllSlots() {
    long begin = System.nanoTime();
    try (RedisClusterNodes cluster = RedisClusterNodes.start(3, 3)) {
      System.out.println(
          "a 3+3 cluster was formed in " + (System.nanoTime() - begin) / 1_000_000 + " ms");
      assertThat(cluster.size()).isEqualTo(6);
      assertThat(cluster.masters()).containsExactlyInAnyOrder(get(cluster, 0, 1, 2));

      int slot = RedisClusterNodes.slot("{a}");
      RedisNode from = cluster.masterOf(slot);
      RedisNode to = cluster.masters().stream().filter(node -> node != from).findAny().get();
      from.command("SET", "{a}key", "value");
      cluster.moveSlot(slot, to);
      assertThat(cluster.masterOf(slot)).isSameAs(to);
      assertThat(to.command("GET", "{a}key")).isEqualTo("value");

      RedisNode replica = cluster.replicaOf("{a}");
      to.kill();
      Waiting.until(
          () -> "the replica took over\n" + cluster.describe(),
          Duration.ofSeconds(30),
          () ->
              cluster.masterOf("{a}") == replica
                  && "value".equals(replica.command("GET", "{a}key")));

      cluster.endFaults();
      assertThat(cluster.replicaOf("{a}")).isSameAs(to);
      cluster.promote(to, false);
      cluster.awaitReady();
      assertThat(cluster.masterOf("{a}")).isSameAs(to);
      assertThat(to.command("GET", "{a}key")).isEqualTo("value");
    }
  }

  @Test
  void gatedCluster_reportsTheGatesToClients() {
    try (RedisClusterNodes cluster =
        RedisClusterNodes.builder().masters(1).replicas(1).gated(true).start()) {
      List<?> slots = (List<?>) cluster.get(1).command("CLUSTER", "SLOTS");
      assertThat(slots).asString().contains(String.valueOf(cluster.get(0).gate().port()));
      assertThat(cluster.masterOf("x")).isSameAs(cluster.get(0));
    }
  }

  /**
   * With this node timeout a replica repeats a refused election only after 60 s, so each election
   * must succeed at once.
   */
  @Test
  @Tag("thorough")
  void promote_backAtOnce_winsTheFirstElection() {
    try (RedisClusterNodes cluster =
        RedisClusterNodes.builder().nodeTimeout(Duration.ofSeconds(15)).start()) {
      for (RedisNode master : cluster.masters()) {
        String key = keyOn(cluster, master);
        RedisNode replica = cluster.replicaOf(key);
        cluster.promote(replica, false);
        cluster.awaitReady();
        cluster.promote(cluster.replicaOf(key), false);
        cluster.awaitReady();
        assertThat(cluster.masterOf(key)).isSameAs(master);
      }
    }
  }

  private static String keyOn(RedisClusterNodes cluster, RedisNode master) {
    return IntStream.range(0, 1_000)
        .mapToObj(i -> "key" + i)
        .filter(key -> cluster.masterOf(key) == master)
        .findFirst()
        .orElseThrow();
  }

  private static RedisNode[] get(RedisClusterNodes cluster, int... indices) {
    RedisNode[] nodes = new RedisNode[indices.length];
    for (int i = 0; i < indices.length; i++) {
      nodes[i] = cluster.get(indices[i]);
    }
    return nodes;
  }
}
