package dev.redlock.it;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.ServerState;
import java.time.Duration;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/**
 * Creates clients for tests, without the restart guard: the nodes are new and have forgotten
 * nothing.
 */
public final class Clients {
  private static final Map<RedisNodes, Boolean> CLUSTERS = new WeakHashMap<>();

  private Clients() {}

  /** The masters as lock nodes: independent masters, or one cluster each. */
  public static RedlockBuilder on(RedisNodes nodes) {
    RedlockBuilder builder = Redlock.builder().restartGuard(RestartGuard.OFF);
    if (inClusterMode(nodes)) {
      nodes.uris().forEach(uri -> builder.nodes(ClusterLockNode.connect(uri)));
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

  /**
   * Options with a node timeout so long that no pause of the machine turns a reply into a timeout.
   */
  public static LockOptions.Builder options() {
    return LockOptions.builder().nodeTimeout(PATIENCE);
  }

  /** Like {@link #start}, for tests of the result and not of the speed. */
  public static Redlock patient(RedisNodes nodes) {
    return voting(on(nodes).nodeTimeout(PATIENCE).build(), nodes.size());
  }

  /** A client whose running nodes all vote. */
  public static Redlock start(RedisNodes nodes) {
    return voting(on(nodes).build(), nodes.size());
  }

  public static Redlock voting(Redlock redlock, int atLeast) {
    Awaitility.await("nodes vote: " + redlock.operations().nodes())
        .atMost(Duration.ofSeconds(10))
        .pollInterval(Duration.ofMillis(5))
        .until(
            () ->
                redlock.operations().nodes().stream()
                        .filter(n -> n.state() == NodeState.State.VOTING)
                        .count()
                    >= atLeast);
    return redlock;
  }

  /** Whether every node has confirmed the release. For the caller a quorum is enough. */
  public static boolean owesNothing(Redlock redlock) {
    return redlock.operations().nodes().stream().allMatch(node -> node.pendingReleases() == 0);
  }

  public static String queueKey(String name) {
    return lockKey(name) + ":1:queue";
  }

  public static String lockKey(String name) {
    return "redlock:{" + name + "}";
  }

  /** The lease id that most nodes store for a name that is held. */
  public static String leaseId(RedisNodes nodes, String name) {
    return nodes.stream()
        .map(node -> node.command("GET", lockKey(name)))
        .filter(String.class::isInstance)
        .map(String.class::cast)
        .collect(Collectors.groupingBy(id -> id, Collectors.counting()))
        .entrySet()
        .stream()
        .max(Map.Entry.comparingByValue())
        .orElseThrow()
        .getKey();
  }

  /** Whether any node has refused a client this name since the last grant. */
  public static boolean isWanted(RedisNodes nodes, String name) {
    return nodes.stream()
        .anyMatch(
            node -> String.valueOf(node.command("GET", lockKey(name) + ":fence")).endsWith(":1"));
  }

  public static boolean holdsKey(RedisNode node, String name) {
    return node.key(lockKey(name)).isPresent();
  }
}
