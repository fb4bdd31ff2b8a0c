package dev.redlock.it;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/**
 * Creates clients for tests, without the restart guard: the nodes are new and have forgotten
 * nothing.
 */
public final class Clients {
  private Clients() {}

  /** The masters as lock nodes. */
  public static RedlockBuilder on(RedisNodes nodes) {
    return Redlock.builder()
        .restartGuard(RestartGuard.OFF)
        .nodes(LeastUser.uris(nodes).toArray(String[]::new));
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
        .until(() -> Clients.votes(redlock) >= atLeast);
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

  /** The result of a call to an operator's method. */
  public static <T> T done(CompletionStage<T> call) throws Exception {
    return call.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  /** How many nodes of the client vote. */
  public static int votes(Redlock redlock) {
    return (int)
        redlock.operations().nodes().stream()
            .filter(node -> node.state() == NodeState.State.VOTING)
            .count();
  }

  /** Waits until all masters store the lock. */
  public static void everywhere(RedisNodes nodes, String name) {
    Eventually.holds(() -> nodes.stream().allMatch(node -> holdsKey(node, name)), nodes);
  }

  /** Waits until no master stores the lock. */
  public static void gone(RedisNodes nodes, String name) {
    Eventually.holds(() -> nodes.stream().noneMatch(node -> holdsKey(node, name)), nodes);
  }

  public static boolean holdsKey(RedisNode node, String name) {
    return node.key(lockKey(name)).isPresent();
  }
}
