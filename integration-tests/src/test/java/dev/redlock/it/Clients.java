package dev.redlock.it;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.ServerState;
import java.time.Duration;
import java.util.Map;
import java.util.WeakHashMap;
import org.awaitility.Awaitility;

/** Makes clients for tests: on fresh nodes, which are known not to have forgotten anything. */
public final class Clients {
  private static final Map<RedisNodes, Boolean> CLUSTERS = new WeakHashMap<>();

  private Clients() {}

  /** Masters as what they are: independent ones, or each a cluster of its own. */
  public static RedlockBuilder on(RedisNodes nodes) {
    RedlockBuilder builder = Redlock.builder().restartGuard(RestartGuard.off());
    if (inClusterMode(nodes)) {
      nodes.uris().forEach(uri -> builder.node(ClusterLockNode.connect(uri)));
      return builder;
    }
    return builder.nodes(LeastUser.uris(nodes).toArray(String[]::new));
  }

  private static boolean inClusterMode(RedisNodes nodes) {
    synchronized (CLUSTERS) {
      return CLUSTERS.computeIfAbsent(
          nodes,
          all ->
              all.stream()
                  .filter(node -> node.state() == ServerState.RUNNING)
                  .map(node -> String.valueOf(node.command("INFO", "cluster")))
                  .anyMatch(info -> info.contains("cluster_enabled:1")));
    }
  }

  /** Long enough for a machine that is busy with other builds. */
  public static final Duration PATIENCE = Duration.ofSeconds(1);

  /** Options with which no pause of a test machine makes a node's answer count as missing. */
  public static LockOptions.Builder options() {
    return LockOptions.builder().nodeTimeout(PATIENCE);
  }

  /** As {@link #start}, for tests of what is answered and not of how fast. */
  public static Redlock patient(RedisNodes nodes) {
    return voting(on(nodes).nodeTimeout(PATIENCE).build(), nodes.size());
  }

  /** A client whose nodes, those that run, vote already. */
  public static Redlock start(RedisNodes nodes) {
    return voting(on(nodes).build(), nodes.size());
  }

  public static Redlock voting(Redlock redlock, int atLeast) {
    Awaitility.await("nodes vote: " + redlock.nodes())
        .atMost(Duration.ofSeconds(10))
        .pollInterval(Duration.ofMillis(5))
        .until(
            () ->
                redlock.nodes().stream().filter(n -> n.state().equals("VOTING")).count()
                    >= atLeast);
    return redlock;
  }

  /** Whether every node has confirmed all that was released: a quorum is enough for the caller. */
  public static boolean owesNothing(Redlock redlock) {
    return redlock.nodes().stream().allMatch(node -> node.pendingCleanups() == 0);
  }

  public static String lockKey(String name) {
    return "redlock:{" + name + "}";
  }

  /** Whether somebody was refused this name since it was granted last, by any node. */
  public static boolean isWanted(RedisNodes nodes, String name) {
    return nodes.stream()
        .anyMatch(node -> "1".equals(node.command("HGET", lockKey(name) + ":fence", "wanted")));
  }

  public static boolean holdsKey(RedisNode node, String name) {
    return node.key(lockKey(name)).isPresent();
  }
}
