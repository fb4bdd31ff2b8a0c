package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Clients;
import dev.redlock.it.Commands;
import dev.redlock.it.TestTime;
import dev.redlock.redis.internal.scripts.Script;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Waiters that are cut off while the lock is released. */
class CutOffIT {
  private static final ClusterOptions STREAM =
      ClusterOptions.builder().releaseHints(ClusterReleaseHints.STREAM).build();
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final String NAME = "cut";
  private static final String KEY = Clients.lockKey(NAME);

  private static RedisClusterNodes cluster;
  private static RedisNode master;

  @BeforeAll
  static void start() {
    cluster = RedisClusterNodes.builder().masters(1).replicas(0).gated(true).start();
    master = cluster.get(0);
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  /** Like another process that is not cut off. */
  private static void release(String leaseId, long token) {
    master.command(
        "EVAL",
        new String(Script.RELEASE.text(), StandardCharsets.UTF_8),
        "2",
        KEY,
        KEY + ":fence",
        leaseId,
        Long.toString(token),
        "60000",
        "1",
        "0",
        "",
        "XADD");
  }

  @Test
  void releasedWhileCutOff_waiterHasItSoonAfterReconnecting_beforeItsPoll() throws Exception {
    LockOptions lazy =
        LockOptions.builder()
            .pollInterval(Duration.ofMinutes(1))
            .nodeTimeout(Duration.ofSeconds(1))
            .build();
    try (Redlock redlock = ClusterClients.start(cluster.uris(), STREAM)) {
      master.command("SET", KEY, "another", "PX", "30000");
      master.command("SET", KEY + ":fence", "1:0:0", "PX", "60000");
      long before = Commands.on(cluster.masters());
      CompletableFuture<Lease> waiting = redlock.lock(NAME, lazy).acquireAsync(WAIT);
      ClusterClients.eventually(
          cluster, Duration.ofSeconds(5), () -> Commands.on(cluster.masters()) > before);

      master.gate().cut();
      release("another", 2);
      assertThat(waiting).isNotDone();
      master.gate().endFaults();

      Lease lease = waiting.get(4, TimeUnit.SECONDS); // The poll comes after 5 to 15 s.
      lease.close();
    }
  }

  /** The same test on a node without a lock, where only the stream can deliver the release. */
  @Test
  void releasedWhileCutOff_isReadFromTheStreamAfterReconnecting() throws Exception {
    ClusterLockNode node = ClusterLockNode.connect(cluster.uris(), STREAM);
    Queue<String> hinted = new ConcurrentLinkedQueue<>();
    Queue<String> invalidated = new ConcurrentLinkedQueue<>();
    LockKeys keys = LockKeys.of("redlock", List.of(NAME));
    node.start(
        new LockNode.Context(
            Duration.ofSeconds(30),
            RestartGuard.OFF,
            "redlock",
            "",
            false,
            new TestTime(),
            new LockNode.Listener() {
              @Override
              public void onStatus(LockNode told) {}

              @Override
              public void onInvalidated(LockNode told, String key) {
                invalidated.add(key);
              }

              @Override
              public void onReleaseHint(LockNode told, String key) {
                hinted.add(key);
              }

              @Override
              public void onAllInvalidated(LockNode told) {}
            }));
    try {
      ClusterClients.eventually(
          cluster, Duration.ofSeconds(5), () -> node.status().state() == NodeStatus.State.VOTING);
      long token = ask(node, new LockRequest.Inspect(keys, true)).nodeMicros();
      assertThat(ask(node, acquire(keys, "mine", token)).code()).isEqualTo(Code.GRANTED);
      node.waiting(keys);
      assertThat(ask(node, acquire(keys, "other", token + 1)).code()).isEqualTo(Code.HELD);
      assertThat(hinted).isEmpty();

      // Connected: by the invalidation of the stream.
      release("mine", token);
      ClusterClients.eventually(cluster, Duration.ofSeconds(5), () -> hinted.contains(KEY));

      assertThat(ask(node, acquire(keys, "next", token + 2)).code()).isEqualTo(Code.GRANTED);
      hinted.clear();
      invalidated.clear();
      master.gate().cut();
      ClusterClients.eventually(cluster, Duration.ofSeconds(5), () -> !node.status().usable());
      release("next", token + 2);
      assertThat(hinted).isEmpty();
      master.gate().endFaults();
      ClusterClients.eventually(cluster, Duration.ofSeconds(5), () -> hinted.contains(KEY));
      assertThat(invalidated).as("a new connection has read no lock key").doesNotContain(KEY);

      node.idle(keys);
    } finally {
      node.close();
    }
  }

  private static LockRequest acquire(LockKeys keys, String leaseId, long token) {
    return new LockRequest.Acquire(keys, leaseId, token, 30_000, null);
  }

  private static NodeReply ask(LockNode node, LockRequest request) {
    CompletableFuture<NodeReply> answer = new CompletableFuture<>();
    node.send(request, answer::complete);
    return answer.orTimeout(5, TimeUnit.SECONDS).join();
  }
}
