package dev.redlock.it.contract;

import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.spi.LockNode;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.ServerState;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A cluster behind one node, or one of several. Tests kill and pause its masters together, for less
 * time than the replicas need to notice.
 */
final class ClusterUnderTest extends RedisUnderTest {
  private final RedisClusterNodes cluster;
  private final Supplier<LockNode> nodes;
  private final UnaryOperator<String> stored;

  ClusterUnderTest(RedisClusterNodes cluster) {
    this(
        cluster,
        () -> ClusterLockNode.connect(cluster.uris(), ClusterOptions.defaults()),
        key -> key);
  }

  /**
   * @param nodes makes a node
   * @param stored the key that the node stores for this one
   */
  ClusterUnderTest(
      RedisClusterNodes cluster, Supplier<LockNode> nodes, UnaryOperator<String> stored) {
    super(cluster.masters());
    this.cluster = cluster;
    this.nodes = nodes;
    this.stored = stored;
  }

  @Override
  RedisNode at(String key) {
    return masters.get(RedisClusterNodes.slot(stored.apply(key)) * masters.size() / 16384);
  }

  @Override
  public LockNode newNode() {
    return nodes.get();
  }

  @Override
  public String stored(String key) {
    return stored.apply(key);
  }

  @Override
  public void restart() {
    super.restart();
    cluster.awaitReady();
  }

  @Override
  public void endFaults() {
    boolean down = masters.stream().anyMatch(master -> master.state() == ServerState.DEAD);
    masters.stream()
        .filter(master -> master.state() == ServerState.PAUSED)
        .forEach(RedisNode::resume);
    if (down) {
      restart();
    }
  }
}
