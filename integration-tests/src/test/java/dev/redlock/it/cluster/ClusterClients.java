package dev.redlock.it.cluster;

import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.it.contract.TestClient;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.ServerState;
import java.time.Duration;
import java.util.List;

/** Creates clients of a new cluster, without the restart guard: it has forgotten nothing. */
final class ClusterClients {
  /** The permissions that a lock needs, without CLIENT TRACKING. */
  private static final String DEAF_USER = "deaf";

  private ClusterClients() {}

  static RedlockBuilder on(List<String> uris, ClusterOptions options) {
    return Redlock.builder()
        .nodes(ClusterLockNode.connect(uris, options))
        .restartGuard(RestartGuard.OFF);
  }

  static Redlock start(RedisClusterNodes cluster, ClusterReleaseHints hints) {
    return start(cluster.uris(), ClusterOptions.builder().releaseHints(hints).build());
  }

  static Redlock start(RedisClusterNodes cluster) {
    return start(cluster.uris(), ClusterOptions.defaults());
  }

  static Redlock start(List<String> uris, ClusterOptions options) {
    return Clients.voting(on(uris, options).build(), 1);
  }

  /** A client that receives release hints only: its user may not use CLIENT TRACKING. */
  static Redlock startDeaf(RedisClusterNodes cluster, ClusterReleaseHints hints) {
    for (RedisNode node : cluster) {
      node.command(
          "ACL", "SETUSER", DEAF_USER, "on", "nopass", "~*", "&*", "+@all", "-client|tracking");
    }
    return start(deafUris(cluster), ClusterOptions.builder().releaseHints(hints).build());
  }

  /** The addresses with the user that {@link #startDeaf} makes. */
  static List<String> deafUris(RedisClusterNodes cluster) {
    return cluster.uris().stream()
        .map(uri -> uri.replace("redis://", "redis://" + DEAF_USER + ":any@"))
        .toList();
  }

  /** The number of subscribers to the hints of this name. */
  static long subscribers(RedisClusterNodes cluster, ClusterReleaseHints hints, String name) {
    String channel = TestClient.keys(name).lockKey(0) + ":freed";
    String which = hints == ClusterReleaseHints.PUBSUB ? "NUMSUB" : "SHARDNUMSUB";
    long all = 0;
    for (RedisNode master : cluster.masters()) {
      if (master.state() == ServerState.RUNNING
          && master.command("PUBSUB", which, channel) instanceof List<?> pair
          && pair.size() == 2) {
        all += (Long) pair.get(1);
      }
    }
    return all;
  }

  /**
   * Whether the node stores this key; also works on replicas, which do not reply to requests for
   * single keys.
   */
  static boolean stores(RedisNode node, String key) {
    return node.command("SCAN", "0", "COUNT", "100000") instanceof List<?> page
        && page.get(1) instanceof List<?> keys
        && keys.contains(key);
  }

  static void eventually(
      RedisClusterNodes cluster, Duration within, Eventually.Condition condition) {
    Eventually.holds(condition, within, cluster::describe);
  }
}
