package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.it.TestTime;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A started node and the events it has sent. Its methods may block. */
public final class TestClient implements AutoCloseable {
  static final Duration MAX_LEASE = Duration.ofSeconds(30);
  static final Duration PATIENCE = Duration.ofSeconds(5);
  static final String PREFIX = "redlock";
  static final Time TIME = new TestTime();

  public final LockNode node;

  final Queue<String> invalidated = new ConcurrentLinkedQueue<>();

  /** Hints that did not come over the connection of the replies. */
  public final Queue<String> hinted = new ConcurrentLinkedQueue<>();

  final Queue<NodeStatus> statuses = new ConcurrentLinkedQueue<>();
  final Queue<Long> flushes = new ConcurrentLinkedQueue<>();

  private TestClient(LockNode node) {
    this.node = node;
  }

  public static TestClient start(LockNode node) {
    return start(node, RestartGuard.OFF, MAX_LEASE);
  }

  /** Starts the node and waits until it accepts requests. */
  static TestClient start(LockNode node, RestartGuard guard, Duration maxLease) {
    TestClient client = startOnly(node, guard, maxLease);
    client.awaitStatus(NodeStatus::usable);
    return client;
  }

  static TestClient startOnly(LockNode node, RestartGuard guard, Duration maxLease) {
    TestClient client = new TestClient(node);
    node.start(new LockNode.Context(maxLease, guard, PREFIX, "", false, TIME, client.listener()));
    return client;
  }

  private LockNode.Listener listener() {
    return new LockNode.Listener() {
      @Override
      public void onStatus(LockNode told) {
        statuses.add(told.status());
      }

      @Override
      public void onInvalidated(LockNode told, String key) {
        invalidated.add(key);
      }

      @Override
      public void onReleaseHint(LockNode told, String key) {
        hinted.add(key);
      }

      @Override
      public void onAllInvalidated(LockNode told) {
        flushes.add(told.status().connection());
      }
    };
  }

  NodeStatus awaitStatus(Predicate<NodeStatus> wanted) {
    await().atMost(PATIENCE).pollInterval(Duration.ofMillis(2)).until(node::status, wanted);
    return node.status();
  }

  /** Sends without waiting. */
  CompletableFuture<NodeReply> send(LockRequest request) {
    CompletableFuture<NodeReply> answer = new CompletableFuture<>();
    node.send(
        request,
        reply -> assertThat(answer.complete(reply)).as("one answer to one request").isTrue());
    return answer;
  }

  NodeReply ask(LockRequest request) {
    return send(request).orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).join();
  }

  public NodeReply acquire(LockKeys keys, String leaseId, long token, long ttlMillis) {
    return ask(new LockRequest.Acquire(keys, leaseId, token, ttlMillis, null));
  }

  NodeReply extend(LockKeys keys, String leaseId, long token, long ttlMillis) {
    return ask(new LockRequest.Extend(keys, leaseId, token, ttlMillis));
  }

  public NodeReply release(LockKeys keys, String leaseId, long token) {
    return ask(new LockRequest.Release(keys, leaseId, token, true, 0, null));
  }

  NodeReply rollBack(LockKeys keys, String leaseId, long token) {
    return ask(new LockRequest.Release(keys, leaseId, token, false, 0, null));
  }

  NodeReply inspect(LockKeys keys) {
    return ask(new LockRequest.Inspect(keys, true));
  }

  /** The node's clock. */
  long now() {
    return now(keys("clock"));
  }

  /** The clock of the master that serves these keys. */
  public long now(LockKeys keys) {
    return inspect(keys).nodeMicros();
  }

  public static LockKeys keys(String... names) {
    return LockKeys.of(PREFIX, List.of(names));
  }

  @Override
  public void close() {
    node.close();
  }
}
