package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Clients;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A master of a cluster on the smaller side of a partition (hazard H20). It continues to grant
 * until it notices the partition, and the other side may grant the same names again. So this time
 * must be short.
 */
class MinorityMasterIT {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .leaseTime(Duration.ofSeconds(30))
          .nodeTimeout(Duration.ofSeconds(1))
          .autoExtend(false)
          .build();

  @Tag("thorough")
  @Test
  void masterLeftAlone_grantsAndExtendsNoMore_saysWhy_andServesAgainWithTheOthers() {
    try (RedisClusterNodes cluster = RedisClusterNodes.start(3, 0);
        Redlock redlock =
            Clients.voting(
                Redlock.builder()
                    .nodes(ClusterLockNode.connect(cluster.uris(), ClusterOptions.defaults()))
                    .restartGuard(RestartGuard.OFF)
                    .build(),
                1)) {
      Lease held = redlock.lock("{alone}held", OPTIONS).acquire(WAIT);
      RedisNode alone = cluster.masterOf("{alone}");
      cluster.stream().filter(node -> node != alone).forEach(RedisNode::pause);
      await("refused by a master that is alone", () -> refusal(redlock).contains("CLUSTERDOWN"));
      assertThat(held.extendAsync().toCompletableFuture().handle((done, failure) -> failure).join())
          .as("extended by a master that is alone")
          .isNotNull();
      assertThat(held.isValid()).as("what was granted before").isTrue();
      cluster.stream().filter(node -> node != alone).forEach(RedisNode::resume);
      await("served again", () -> refusal(redlock).isEmpty());
      held.extendAsync().toCompletableFuture().join();
      held.close();
    }
  }

  private interface Condition {
    boolean holds();
  }

  private static void await(String what, Condition condition) {
    Awaitility.await(what)
        .pollInSameThread()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(50))
        .until(condition::holds);
  }

  /** Why a free name of the same master is refused; empty if it is granted. */
  private static String refusal(Redlock redlock) {
    try {
      return redlock
          .lock("{alone}free", OPTIONS)
          .tryAcquire()
          .map(
              lease -> {
                lease.close();
                return "";
              })
          .orElse("held");
    } catch (QuorumUnavailableException e) {
      System.out.println(e.getMessage());
      return String.valueOf(e.getMessage());
    }
  }
}
