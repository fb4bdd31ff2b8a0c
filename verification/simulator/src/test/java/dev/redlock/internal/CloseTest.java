package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.RedlockClosedException;
import dev.redlock.RedlockListener;
import dev.redlock.SimulatedBuilder;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockKeys;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls that are in progress when a client is closed end, whether the call or the close is faster.
 */
@Timeout(60)
class CloseTest {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final LockKeys KEYS = LockKeys.of("redlock", List.of("a"));

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };

  private RedlockBuilder builder() {
    return SimulatedBuilder.on(nodes);
  }

  private static <T> T soon(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private void assertFree(String name) {
    for (InMemoryLockNode node : nodes) {
      assertThat(node.holder(name)).as(node.name()).isNull();
    }
  }

  /** Like a caller that checked "is the client open?" just before the close. */
  private static PendingAcquire submitLate(Client client) {
    PendingAcquire pending =
        new PendingAcquire(
            client.context(),
            KEYS,
            client.defaultOptions(),
            client.context().time.nanos(),
            WAIT.toNanos(),
            false);
    client.context().locks.post(KEYS, (machine, now, wall) -> machine.submit(pending, now, wall));
    return pending;
  }

  @Test
  void acquire_thatFoundTheClientOpen_isRefusedByItsQueueOnceItIsClosed() {
    Client client = (Client) builder().build();
    client.close();
    PendingAcquire late = submitLate(client);
    assertThatThrownBy(() -> Results.of(late.result)).isInstanceOf(RedlockClosedException.class);
    assertThat(client.context().locks.size()).isZero();
  }

  @Test
  void acquire_betweenTheClosingOfQueuesAndTheEnd_isRefused() {
    Client client = (Client) builder().build();
    client.context().locks.close();
    PendingAcquire late = submitLate(client);
    assertThatThrownBy(() -> Results.of(late.result)).isInstanceOf(RedlockClosedException.class);
    client.close();
    assertFree("a");
  }

  @Test
  void questions_thatFoundTheClientOpen_areAnsweredAfterItIsClosed() throws Exception {
    Client client = (Client) builder().build();
    client.close();
    assertThat(soon(client.inspectOnAll(KEYS, false))).isNotNull();
    assertThat(soon(client.breakOnAll(KEYS)).isBroken()).isFalse();
    assertThat(client.context().locks.size()).isZero();
  }

  @Test
  void question_thatNoNodeAnswers_isAnsweredByTheClose() throws Exception {
    Client client =
        (Client) builder().defaults(LockOptions.builder().nodeTimeout(second()).build()).build();
    soon(client.lock("b").acquireAsync(WAIT));
    for (InMemoryLockNode node : nodes) {
      node.hang();
    }
    CompletionStage<?> asked = client.operations().inspect("a");
    CompletionStage<?> examined = client.operations().doctor();
    client.close();
    soon(asked);
    soon(examined);
  }

  private static Duration second() {
    return Duration.ofSeconds(1);
  }

  @Test
  void waiters_whenTheClientIsClosed_areToldSo() throws Exception {
    try (Redlock holder = builder().build()) {
      soon(holder.lock("a").acquireAsync(WAIT));
      Redlock client = builder().build();
      CompletableFuture<Lease> waiter = client.lock("a").acquireAsync(WAIT);
      client.close();
      assertThatThrownBy(() -> soon(waiter)).hasCauseInstanceOf(RedlockClosedException.class);
    }
  }

  @Test
  void lease_whenTheClientIsClosed_isReleasedAndCanNeitherBeExtendedNorHangInItsRelease()
      throws Exception {
    Redlock client = builder().build();
    Lease lease = soon(client.lock("a").acquireAsync(WAIT));
    client.close();
    assertThat(lease.isValid()).isFalse();
    assertFree("a");
    assertThat(soon(lease.whenEnded())).isEqualTo(LeaseEnd.CLOSED);
    assertThatThrownBy(() -> soon(lease.extendAsync())).isInstanceOf(ExecutionException.class);
    soon(lease.releaseAsync());
    lease.close();
  }

  @Test
  void close_fromTheMiddleOfAQueue_returnsAndFreesWhatTheQueueHolds() throws Exception {
    Redlock client = builder().callbackExecutor(Runnable::run).build();
    DistributedLock lock = client.lock("a");
    CompletableFuture<Lease> closedIn = new CompletableFuture<>();
    lock.acquireAsync(WAIT)
        .thenAccept(
            lease -> {
              client.close();
              closedIn.complete(lease);
            });
    Lease lease = soon(closedIn);
    client.close(); // Waits until it is.
    assertThat(lease.isValid()).isFalse();
    assertFree("a");
  }

  @Test
  void close_fromACallbackOnANodesThread_returnsWithoutWaitingForTheNodes() throws Exception {
    AtomicReference<Client> toClose = new AtomicReference<>();
    CompletableFuture<Boolean> endedWhenItReturned = new CompletableFuture<>();
    RedlockListener listener =
        new RedlockListener() {
          @Override
          public void onNode(NodeState node) {
            Client client = toClose.getAndSet(null);
            if (client != null) {
              client.close();
              endedWhenItReturned.complete(client.context().locks.isEnded());
            }
          }
        };
    Client client = (Client) builder().callbackExecutor(Runnable::run).listener(listener).build();
    soon(client.lock("a").acquireAsync(WAIT));
    nodes[1].hang(); // The close waits for its release.
    nodes[2].hang();
    toClose.set(client);
    nodes[0].kill();
    assertThat(soon(endedWhenItReturned)).isFalse();
    client.close();
    assertThat(client.context().locks.isEnded()).isTrue();
  }

  @Test
  void whenEnded_askedOnceMoreAfterTheEnd_runsNothingThatOthersHaveAttached() throws Exception {
    Queue<Runnable> callbacks = new ConcurrentLinkedQueue<>();
    AtomicInteger told = new AtomicInteger();
    try (Redlock client = builder().callbackExecutor(callbacks::add).build()) {
      Lease lease = client.lock("a").acquire(WAIT);
      lease.whenEnded().thenRun(told::incrementAndGet);
      lease.close();
      assertThat(lease.whenEnded().toCompletableFuture()).isCompleted();
      assertThat(told).hasValue(0);
      callbacks.forEach(Runnable::run);
      assertThat(told).hasValue(1);
    }
  }

  @Test
  void close_fromACallback_returnsAndFreesWhatItHolds() throws Exception {
    Redlock client = builder().build();
    Lease lease =
        soon(
            client
                .lock("a")
                .acquireAsync(WAIT)
                .thenApply(
                    granted -> {
                      client.close();
                      return granted;
                    }));
    assertThat(lease.isValid()).isFalse();
    assertFree("a");
  }

  @Test
  void close_bySecondThread_returnsWhenTheFirstHas() throws Exception {
    Client client = (Client) builder().build();
    soon(client.lock("a").acquireAsync(WAIT));
    for (InMemoryLockNode node : nodes) {
      node.hang(); // The first waits for its release to be confirmed.
    }
    CompletableFuture<Boolean> first =
        CompletableFuture.supplyAsync(
            () -> {
              client.close();
              return client.context().locks.isEnded();
            });
    while (!client.context().locks.isClosed()) {
      Thread.onSpinWait();
    }
    client.close();
    assertThat(client.context().locks.isEnded()).isTrue();
    assertThat(soon(first)).isTrue();
  }
}
