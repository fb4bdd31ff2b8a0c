package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract, on a Redis Cluster of three masters and three replicas. */
@Tag("thorough")
class ClusterNodeContractIT extends WholeContract {
  private static RedisClusterNodes nodes;
  private static NodeUnderTest server;

  @BeforeAll
  static void startServer() {
    // No replica must be promoted while a test has stopped the masters.
    nodes = RedisClusterNodes.builder().nodeTimeout(Duration.ofSeconds(15)).start();
    server = new ClusterUnderTest(nodes);
  }

  @AfterAll
  static void stopServer() {
    nodes.close();
  }

  @Test
  void oneMasterRestartedEmpty_grantsNothing_whileTheOthersDo() {
    Duration shortest =
        Duration.ofSeconds(2); // Nodes younger than the shortest guard, 7 s, are out.
    try (TestClient guarded = TestClient.start(server.newNode(), RestartGuard.UPTIME, shortest)) {
      LockKeys there = inSlotsOf(0);
      LockKeys elsewhere = inSlotsOf(1);
      // Each master has a quarantine of its own.
      await()
          .atMost(Duration.ofSeconds(15))
          .until(() -> votes(guarded, inSlotsOf(0)) && votes(guarded, inSlotsOf(1)));
      long before = guarded.node.status().connection();

      nodes.get(0).restart();
      guarded.awaitStatus(status -> status.connection() > before);
      await()
          .atMost(Duration.ofSeconds(5))
          .untilAsserted(
              () -> {
                NodeReply refused = guarded.acquire(there, "me", 1, 1_000);
                assertThat(refused.code()).isEqualTo(Code.FAILED);
                assertThat(refused.error().message())
                    .contains("does not vote")
                    .contains("run id changed");
              });

      // Uses the clock of that master: the master of another name may not be usable yet.
      long token = guarded.inspect(elsewhere).nodeMicros();
      NodeReply granted = guarded.acquire(elsewhere, "me", token, 1_000);
      assertThat(granted.code()).as(granted.toString()).isEqualTo(Code.GRANTED);
      assertThat(granted.connection()).isEqualTo(guarded.node.status().connection());
      assertThat(guarded.node.status().state()).isEqualTo(NodeStatus.State.VOTING);
    } finally {
      nodes.awaitReady();
    }
  }

  /** Whether a grant of the master of these keys counts. */
  private static boolean votes(TestClient client, LockKeys keys) {
    NodeReply reply = client.acquire(keys, "before", client.now(keys), 100);
    return reply.code() == Code.GRANTED && reply.connection() == client.node.status().connection();
  }

  private static LockKeys inSlotsOf(int master) {
    LockKeys keys = NodeContract.fresh();
    while (nodes.masterOf(keys.lockKey(0)) != nodes.get(master)) {
      keys = NodeContract.fresh();
    }
    return keys;
  }

  @Override
  NodeUnderTest server() {
    return server;
  }
}
