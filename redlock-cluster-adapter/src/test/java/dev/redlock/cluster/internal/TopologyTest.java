package dev.redlock.cluster.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TopologyTest {
  private static Topology of(RedisClusterNode... nodes) {
    Partitions partitions = new Partitions();
    partitions.addAll(List.of(nodes));
    return Topology.of(partitions);
  }

  private static RedisClusterNode node(String id, int port, NodeFlag role, Integer... slots) {
    RedisClusterNode node = RedisClusterNode.of(id);
    node.setUri(RedisURI.create("127.0.0.1", port));
    node.setFlags(Set.of(role));
    node.setSlots(List.of(slots));
    return node;
  }

  @Test
  void replica_seenAsMasterWithoutSlotsBeforeItHasThem_isKnownToHaveBeenOne() {
    Topology before = of(node("a", 1, NodeFlag.UPSTREAM, 7), node("b", 2, NodeFlag.REPLICA));
    Topology between = of(node("a", 1, NodeFlag.UPSTREAM, 7), node("b", 2, NodeFlag.UPSTREAM));
    Topology promoted = of(node("a", 1, NodeFlag.REPLICA), node("b", 2, NodeFlag.UPSTREAM, 7));

    Topology known = between.after(before);
    assertThat(known.isReplica("b")).as("when it is promoted").isTrue();

    known = promoted.after(known);
    assertThat(known.isReplica("b")).as("once it serves").isFalse();
    assertThat(known.isReplica("a")).isTrue();
  }

  @Test
  void replica_leftOutOfOneView_isKnownToHaveBeenOne() {
    Topology before = of(node("a", 1, NodeFlag.UPSTREAM, 7), node("b", 2, NodeFlag.REPLICA));

    assertThat(of(node("a", 1, NodeFlag.UPSTREAM, 7)).after(before).isReplica("b")).isTrue();
  }

  @Test
  void master_thatIsNewAndGetsSlotsLater_wasNoReplica() {
    Topology empty = of(node("a", 1, NodeFlag.UPSTREAM, 7), node("c", 3, NodeFlag.UPSTREAM));

    assertThat(empty.after(empty).isReplica("c")).isFalse();
  }
}
