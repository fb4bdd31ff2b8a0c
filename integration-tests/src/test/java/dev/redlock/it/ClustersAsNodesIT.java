package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Redlock;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisSource;
import dev.redlock.testkit.RedisTest;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs tests for five masters on five clusters of one master each. */
@Tag("thorough")
class ClustersAsNodesIT {
  /** Passes the running servers to the annotation. */
  private static final String GIVEN = "redlock.redis.uris";

  private static List<RedisClusterNodes> clusters;

  @BeforeAll
  static void start() {
    clusters =
        IntStream.range(0, 5).parallel().mapToObj(i -> RedisClusterNodes.start(1, 0)).toList();
    System.setProperty(
        GIVEN,
        clusters.stream().map(cluster -> cluster.uris().get(0)).collect(Collectors.joining(",")));
  }

  @AfterAll
  static void stop() {
    System.clearProperty(GIVEN);
    clusters.forEach(RedisClusterNodes::close);
  }

  @Nested
  @RedisTest(nodes = 5, source = RedisSource.URI)
  class Leases extends LeaseIT {
    Leases(RedisNodes nodes) {
      super(nodes);
    }

    /** Otherwise these tests would only repeat the others. */
    @Test
    void nodes_areClusters(RedisNodes nodes) {
      try (Redlock redlock = Clients.start(nodes)) {
        assertThat(redlock.operations().nodes())
            .hasSize(5)
            .allSatisfy(node -> assertThat(node.node()).startsWith("cluster "));
      }
    }

    @Override
    @Test
    void multiLock_oneNameHeld_isAllOrNothing() {
      assertThatThrownBy(() -> super.multiLock_oneNameHeld_isAllOrNothing())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("slot");
    }

    @Override
    @Test
    void multiLock_waitingForOneOfItsNames_isWokenByItsRelease() {
      assertThatThrownBy(() -> super.multiLock_waitingForOneOfItsNames_isWokenByItsRelease())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("slot");
    }
  }

  @Nested
  @RedisTest(nodes = 5, source = RedisSource.URI)
  class ReentrantLocks extends ReentrantLockIT {
    ReentrantLocks(RedisNodes nodes) {
      super(nodes);
    }
  }
}
