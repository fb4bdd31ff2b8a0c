package dev.redlock.it.cluster;

import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.cluster.ReleaseNotices;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisClusterNodes;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.ServerState;
import java.time.Duration;
import java.util.List;

/** Makes clients of a cluster that is known not to have forgotten anything. */
final class ClusterClients {
  /** All that a lock needs but pushes. */
  private static final String DEAF_USER = "deaf";

  private ClusterClients() {}

  static RedlockBuilder on(List<String> uris, ClusterOptions options) {
    return Redlock.builder()
        .node(ClusterLockNode.connect(uris, options))
        .restartGuard(RestartGuard.off());
  }

  static Redlock start(RedisClusterNodes cluster, ReleaseNotices notices) {
    return start(cluster.uris(), ClusterOptions.builder().notices(notices).build());
  }

  static Redlock start(RedisClusterNodes cluster) {
    return start(cluster.uris(), ClusterOptions.defaults());
  }

  static Redlock start(List<String> uris, ClusterOptions options) {
    return Clients.voting(on(uris, options).build(), 1);
  }

  /** A client that is told of releases by notices alone: its user may not have pushes. */
  static Redlock startDeaf(RedisClusterNodes cluster, ReleaseNotices notices) {
    for (RedisNode node : cluster) {
      node.command(
          "ACL", "SETUSER", DEAF_USER, "on", "nopass", "~*", "&*", "+@all", "-client|tracking");
    }
    return start(deafUris(cluster), ClusterOptions.builder().notices(notices).build());
  }

  /** The addresses with the user that {@link #startDeaf} makes. */
  static List<String> deafUris(RedisClusterNodes cluster) {
    return cluster.uris().stream()
        .map(uri -> uri.replace("redis://", "redis://" + DEAF_USER + ":any@"))
        .toList();
  }

  /** How many subscribe to the notices of this name. */
  static long subscribers(RedisClusterNodes cluster, ReleaseNotices notices, String name) {
    String channel = Clients.lockKey(name) + ":freed";
    String which = notices == ReleaseNotices.PUBSUB ? "NUMSUB" : "SHARDNUMSUB";
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

  /** Whether it has this key; replicas as well, which do not tell of single keys. */
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
