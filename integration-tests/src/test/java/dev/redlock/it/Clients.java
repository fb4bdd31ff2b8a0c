package dev.redlock.it;

import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import org.awaitility.Awaitility;

/** Makes clients for tests: on fresh nodes, which are known not to have forgotten anything. */
public final class Clients {
  private Clients() {}

  public static RedlockBuilder on(RedisNodes nodes) {
    return Redlock.builder()
        .nodes(LeastUser.uris(nodes).toArray(String[]::new))
        .restartGuard(RestartGuard.off());
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

  public static String lockKey(String name) {
    return "redlock:{" + name + "}";
  }

  public static boolean holdsKey(RedisNode node, String name) {
    return node.key(lockKey(name)).isPresent();
  }
}
