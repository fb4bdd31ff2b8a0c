package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Clients;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several independent clusters as the nodes of one lock. */
class SeveralClustersIT {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final LockOptions PATIENT =
      LockOptions.builder().nodeTimeout(Duration.ofSeconds(1)).build();

  private static List<RedisClusterNodes> clusters;

  @BeforeAll
  static void start() {
    clusters =
        IntStream.range(0, 3).parallel().mapToObj(i -> RedisClusterNodes.start(1, 0)).toList();
  }

  @AfterAll
  static void stop() {
    clusters.forEach(RedisClusterNodes::close);
  }

  private static LockNode node(int cluster) {
    return ClusterLockNode.connect(clusters.get(cluster).uris().get(0));
  }

  @Tag("thorough")
  @Test
  void threeClusters_areAQuorumOfTwo_andOneMayDie() {
    try (Redlock redlock =
        Clients.voting(
            Redlock.builder()
                .nodes(node(0), node(1), node(2))
                .restartGuard(RestartGuard.OFF)
                .build(),
            3)) {
      DistributedLock lock = redlock.lock("mixed", PATIENT);
      long first;
      try (Lease lease = lock.acquire(WAIT)) {
        first = lease.fencingToken().value();
        for (RedisClusterNodes cluster : clusters) {
          ClusterClients.eventually(cluster, WAIT, () -> Clients.holdsKey(cluster.get(0), "mixed"));
        }
      }
      clusters.get(2).get(0).kill();
      try (Lease lease = lock.acquire(WAIT)) {
        assertThat(lease.fencingToken().value()).isGreaterThan(first);
        assertThat(lease.isValid()).isTrue();
      }
    } finally {
      clusters.get(2).endFaults();
    }
  }

  @Test
  void clusterAndIndependentMaster_ofTheSameServer_orOneClusterTwice_areRejectedByName() {
    String uri = clusters.get(0).uris().get(0);
    LockNode again =
        ClusterLockNode.connect(
            List.of(uri),
            dev.redlock.cluster.ClusterOptions.builder().name("the same once more").build());
    try (Redlock redlock =
            Redlock.builder()
                .nodes(node(0), again, node(1))
                .restartGuard(RestartGuard.OFF)
                .build();
        Redlock other =
            Redlock.builder()
                .nodes(node(0), node(1))
                .nodes(uri)
                .restartGuard(RestartGuard.OFF)
                .build()) {
      // The node that connects first votes, and the order is random.
      oneVotes(redlock, 0, 1);
      oneVotes(other, 0, 2);
    }
  }

  /** Whether one of two nodes of the same server votes, and the other reports why it does not. */
  private static void oneVotes(Redlock redlock, int first, int second) {
    ClusterClients.eventually(
        clusters.get(0),
        WAIT,
        () -> {
          NodeState one = redlock.operations().nodes().get(first);
          NodeState other = redlock.operations().nodes().get(second);
          return (one.state() == NodeState.State.VOTING && isRefused(other))
              || (other.state() == NodeState.State.VOTING && isRefused(one));
        });
  }

  private static boolean isRefused(NodeState node) {
    return node.state() == NodeState.State.QUARANTINED
        && (node.cause().contains("is the same server as")
            || node.cause().contains("is in cluster mode"));
  }
}
