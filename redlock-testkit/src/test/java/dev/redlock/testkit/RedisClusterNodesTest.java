package dev.redlock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
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

      cluster.heal();
      assertThat(cluster.replicaOf("{a}")).isSameAs(to);
      cluster.promote(to, false);
      cluster.awaitReady();
      assertThat(cluster.masterOf("{a}")).isSameAs(to);
      assertThat(to.command("GET", "{a}key")).isEqualTo("value");
    }
  }

  @Test
  void gatedCluster_tellsClientsOfTheGates() {
    try (RedisClusterNodes cluster =
        RedisClusterNodes.builder().masters(1).replicas(1).gated(true).start()) {
      List<?> slots = (List<?>) cluster.get(1).command("CLUSTER", "SLOTS");
      assertThat(slots).asString().contains(String.valueOf(cluster.get(0).gate().port()));
      assertThat(cluster.masterOf("x")).isSameAs(cluster.get(0));
    }
  }

  private static RedisNode[] get(RedisClusterNodes cluster, int... indices) {
    RedisNode[] nodes = new RedisNode[indices.length];
    for (int i = 0; i < indices.length; i++) {
      nodes[i] = cluster.get(indices[i]);
    }
    return nodes;
  }
}
