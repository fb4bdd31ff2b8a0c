package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.harness.ForkedJvm;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Clients;
import dev.redlock.it.Commands;
import dev.redlock.testkit.RedisNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A release in one process, and the next holder in another process, which receives release hints
 * only: its user may not use CLIENT TRACKING. Both processes read the same monotonic clock of this
 * host.
 */
class BetweenProcessesIT {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int WARM_UP = 150;
  private static final int TIMES = 100;
  private static final String NAME = "between";
  private static final LockOptions LAZY =
      LockOptions.builder()
          .pollInterval(Duration.ofMinutes(1)) // Cut to a third of the lease time, 10 s.
          .nodeTimeout(Duration.ofSeconds(1))
          .build();

  @Tag("thorough")
  @Test
  void release_reachesTheNextHolderInAnotherProcess_byTheReleaseHint() throws Exception {
    List<Double> millis = new ArrayList<>();
    try (RedisClusterNodes cluster = // On a starved machine no master must count as failed.
            RedisClusterNodes.builder().replicas(0).nodeTimeout(Duration.ofSeconds(15)).start();
        Redlock here = ClusterClients.startDeaf(cluster, ClusterReleaseHints.SHARDED_PUBSUB);
        ForkedJvm there =
            ForkedJvm.start(Other.class, String.join(",", ClusterClients.deafUris(cluster)))) {
      there.awaitLine("ready"::equals, Duration.ofMinutes(2)); // A JVM starts.
      RedisNode master = cluster.masterOf(Clients.lockKey(NAME));
      for (int i = 0; i < WARM_UP + TIMES; i++) {
        Lease held = here.lock(NAME, LAZY).acquire(PATIENCE);
        long before = Commands.on(master);
        there.send("go");
        ClusterClients.eventually(
            cluster,
            PATIENCE,
            () ->
                Commands.on(master) > before
                    && ClusterClients.subscribers(cluster, ClusterReleaseHints.SHARDED_PUBSUB, NAME)
                        >= 1);
        long released = System.nanoTime();
        held.close();
        String line = there.awaitLine(l -> l.startsWith("acquired "), PATIENCE);
        if (i >= WARM_UP) {
          millis.add((Long.parseLong(line.substring(9)) - released) / 1e6);
        }
        there.awaitLine("released"::equals, PATIENCE);
      }
    }
    Collections.sort(millis);
    System.out.printf(
        "cluster: release to next holder in another process, by release hint: median %.2f ms, 99%% %.2f"
            + " ms, most %.2f ms%n",
        millis.get(TIMES / 2), millis.get(TIMES * 99 / 100 - 1), millis.get(TIMES - 1));
    // The goal is 10 ms for the 99th percentile on an idle machine. A starved machine must only be
    // much faster than the poll.
    assertThat(millis.get(TIMES / 2)).isLessThan(100);
    assertThat(millis.get(TIMES - 1)).isLessThan(4_000);
  }

  /** Acquires the lock on command and releases it at once. */
  static final class Other {
    private Other() {}

    public static void main(String[] args) throws Exception {
      ClusterOptions options =
          ClusterOptions.builder().releaseHints(ClusterReleaseHints.SHARDED_PUBSUB).build();
      try (Redlock redlock = ClusterClients.start(List.of(args[0].split(",", -1)), options)) {
        DistributedLock lock = redlock.lock(NAME, LAZY);
        System.out.println("ready");
        BufferedReader orders =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (orders.readLine() != null) {
          try (Lease lease = lock.acquire(PATIENCE)) {
            long now = System.nanoTime();
            System.out.println("acquired " + now);
            lease.ensureValid();
          }
          System.out.println("released");
        }
      }
    }
  }
}
