package dev.redlock.it.cluster;

import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.cluster.ReleaseNotices;
import dev.redlock.it.Clients;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisClusterNodes;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.ServerState;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** Makes clients of a cluster that is known not to have forgotten anything. */
final class ClusterClients {
  private static final Pattern EVALSHA = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");

  /** All that a lock needs but pushes. */
  private static final String DEAF_USER = "deaf";

  private ClusterClients() {}

  interface Condition {
    boolean holds() throws Exception;
  }

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

  /** Script calls of clients on all masters. */
  static long scriptCalls(RedisClusterNodes cluster) {
    return cluster.masters().stream().mapToLong(ClusterClients::scriptCalls).sum();
  }

  /** Script calls of clients on this node. */
  static long scriptCalls(RedisNode node) {
    Matcher found = EVALSHA.matcher(String.valueOf(node.command("INFO", "commandstats")));
    return found.find() ? Long.parseLong(found.group(1)) : 0;
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

  static void eventually(RedisClusterNodes cluster, Duration within, Condition condition) {
    try {
      Awaitility.await()
          .pollInSameThread()
          .atMost(within)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(2))
          .until(condition::holds);
    } catch (ConditionTimeoutException e) {
      throw new AssertionError("not within " + within + "\n" + cluster.describe(), e);
    }
  }
}
