package dev.redlock.it.contract;

import dev.redlock.cluster.ClusterNodes;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.spi.LockKeys;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract, on one of the three nodes over which a Redis Cluster is spread. */
@Tag("thorough")
class SpreadNodeContractIT extends WholeContract {
  private static final ClusterNodes SPREAD = ClusterNodes.spread(3);
  private static final int NODE = 1;

  private static RedisClusterNodes nodes;
  private static NodeUnderTest server;

  @BeforeAll
  static void startServer() {
    // No replica must be promoted while a test has stopped the masters.
    nodes = RedisClusterNodes.builder().nodeTimeout(Duration.ofSeconds(15)).start();
    server =
        new ClusterUnderTest(
            nodes,
            () -> SPREAD.connect(nodes.uris(), ClusterOptions.defaults())[NODE],
            SpreadNodeContractIT::stored);
  }

  @AfterAll
  static void stopServer() {
    nodes.close();
  }

  /** The suffix of a tag depends on the tag only. */
  private static String stored(String key) {
    int close = key.indexOf('}');
    String tagged = key.substring(0, close + 1);
    String name = LockKeys.nameOf("redlock", tagged).orElseThrow();
    return SPREAD.locate(name).get(NODE).lockKey() + key.substring(close + 1);
  }

  @Override
  NodeUnderTest server() {
    return server;
  }
}
