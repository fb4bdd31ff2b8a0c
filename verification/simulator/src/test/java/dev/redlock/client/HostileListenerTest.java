package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.harness.ForwardingLockNode;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever a listener does, locks and other listeners are not affected, and no listener misses an
 * event.
 */
class HostileListenerTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };

  /** Checks the order of the events of each name, and counts. */
  private static class Checked implements RedlockListener {
    final Map<List<String>, Lease> held = new ConcurrentHashMap<>();
    final List<String> wrong = new CopyOnWriteArrayList<>();
    final AtomicInteger joined = new AtomicInteger();
    final AtomicInteger left = new AtomicInteger();
    final AtomicInteger acquired = new AtomicInteger();
    final AtomicInteger ended = new AtomicInteger();
    final AtomicInteger handedOff = new AtomicInteger();
    final AtomicInteger handOffs = new AtomicInteger();

    @Override
    public void onWaiterJoined(Caller caller) {
      joined.incrementAndGet();
    }

    @Override
    public void onWaiterLeft(
        Caller caller, AcquireVerdict verdict, Duration waited, @Nullable AcquireReport report) {
      left.incrementAndGet();
      if (left.get() > joined.get()) {
        wrong.add("left before joined");
      }
    }

    @Override
    public void onAcquired(Lease lease, Duration waited) {
      acquired.incrementAndGet();
      if (held.put(lease.names(), lease) != null) {
        wrong.add("acquired while held: " + lease.names());
      }
    }

    @Override
    public void onEnded(Lease lease, LeaseEnd end, Duration held, Duration validityLeft) {
      ended.incrementAndGet();
      handedOff.addAndGet(end == LeaseEnd.HANDED_OFF ? 1 : 0);
      Lease before = this.held.remove(lease.names());
      if (before == null || !before.fencingToken().equals(lease.fencingToken())) {
        wrong.add("ended without being held: " + lease.names());
      }
    }

    @Override
    public void onHandOff(List<String> names, HandOff kind) {
      handOffs.addAndGet(kind == HandOff.PROCESS ? 0 : 1);
    }
  }

  private Redlock client(RedlockListener... listeners) {
    var builder =
        Redlock.builder()
            .nodes(own())
            .restartGuard(RestartGuard.OFF)
            .nodeTimeout(Duration.ofSeconds(1));
    for (RedlockListener listener : listeners) {
      builder.listener(listener);
    }
    Redlock client = builder.build();
    assertThat(client.awaitReady(WAIT)).isTrue();
    return client;
  }

  private LockNode[] own() {
    LockNode[] own = new LockNode[nodes.length];
    for (int i = 0; i < own.length; i++) {
      own[i] = nodes[i].another();
    }
    return own;
  }

  @Test
  void events_ofEightThreadsAndAClose_comeInOrderAndCompletely() throws Exception {
    Checked checked = new Checked();
    Redlock client = client(checked);
    ExecutorService threads = Executors.newFixedThreadPool(8);
    List<Future<?>> workers = new ArrayList<>();
    CountDownLatch half = new CountDownLatch(8 * 100);
    for (int t = 0; t < 8; t++) {
      int thread = t;
      workers.add(
          threads.submit(
              () -> {
                DistributedLock lock = client.lock("n" + thread % 3);
                for (int i = 0; i < 100; i++) {
                  if (i % 10 == 9) {
                    var future = lock.acquireAsync(WAIT);
                    if (!future.cancel(true)) { // The grant came first: the lease is the caller's.
                      future.join().close();
                    }
                  } else {
                    try (Lease lease = lock.acquire(WAIT)) {
                      assertThat(lease.isValid()).isTrue();
                    }
                  }
                  half.countDown();
                }
                return null;
              }));
    }
    for (Future<?> worker : workers) {
      worker.get(60, TimeUnit.SECONDS);
    }
    threads.shutdown();
    Lease last = client.lock("last").acquire(WAIT);
    var waits = client.lock("last").acquireAsync(WAIT);
    client.close();
    await().atMost(WAIT).until(() -> checked.left.get() == 802);
    await().atMost(WAIT).until(() -> checked.held.isEmpty());
    assertThat(checked.wrong).isEmpty();
    assertThat(checked.joined).hasValue(802);
    assertThat(checked.ended).hasValue(checked.acquired.get());
    assertThat(checked.handOffs).hasValue(checked.handedOff.get()).hasPositiveValue();
    assertThat(last.isValid()).isFalse();
    assertThat(waits).isCompletedExceptionally();
  }

  @Test
  void listener_thatBlocksForEver_delaysNoOtherAndNoClose() {
    CountDownLatch never = new CountDownLatch(1);
    Checked checked = new Checked();
    Redlock client =
        client(
            new RedlockListener() {
              @Override
              public void onNode(NodeState node) {
                while (never.getCount() > 0) {
                  try {
                    never.await();
                  } catch (InterruptedException e) {
                    // It really blocks.
                  }
                }
              }
            },
            checked);
    for (int i = 0; i < 50; i++) {
      client.lock("a").acquire(WAIT).close();
    }
    client.lock("b").acquire(WAIT);
    client.close();
    await().atMost(WAIT).until(() -> checked.ended.get() == 51);
    assertThat(checked.wrong).isEmpty();
    never.countDown();
  }

  /** Throws an error, acquires, lists, watches, and closes the client during the event. */
  private static final class Wild extends Checked {
    volatile Redlock client;
    private final AtomicInteger calls = new AtomicInteger();

    @Override
    public void onAcquired(Lease lease, Duration waited) {
      super.onAcquired(lease, waited);
      Redlock c = client;
      if (c == null) {
        return;
      }
      int call = calls.incrementAndGet();
      if (call < 20) {
        c.lock("own-" + call % 2).acquireAsync(Duration.ofMillis(1));
        c.lock("own").tryAcquireAsync().thenAccept(l -> l.ifPresent(Lease::releaseAsync));
        throw new StackOverflowError("on purpose");
      } else if (call == 20) {
        c.close();
      }
      throw new NoClassDefFoundError("on purpose");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void listener_thatThrowsReentersAndCloses_getsAllEvents(boolean direct) {
    Wild wild = new Wild();
    var builder =
        Redlock.builder()
            .nodes(own())
            .restartGuard(RestartGuard.OFF)
            .nodeTimeout(Duration.ofSeconds(1))
            .listener(wild);
    if (direct) {
      builder.callbackExecutor(Runnable::run);
    }
    Redlock client = builder.build();
    assertThat(client.awaitReady(WAIT)).isTrue();
    wild.client = client;
    try {
      for (int i = 0; i < 1_000; i++) {
        client.lock("a").acquire(WAIT).close();
      }
    } catch (dev.redlock.RedlockClosedException e) {
      // The expected exception.
    }
    client.close();
    await().atMost(WAIT).until(() -> wild.joined.get() == wild.left.get());
    await().atMost(WAIT).until(() -> wild.held.isEmpty());
    assertThat(wild.wrong).isEmpty();
    assertThat(wild.ended).hasValue(wild.acquired.get());
    for (InMemoryLockNode node : nodes) {
      await().atMost(WAIT).until(() -> node.holder("own-0") == null && node.holder("a") == null);
    }
  }

  /** Another thread changes the state while the first reads it. */
  private static final class Flapping extends ForwardingLockNode {
    private final AtomicBoolean changes = new AtomicBoolean();
    private volatile Runnable otherThread = () -> {};
    private volatile boolean down;

    Flapping(LockNode node) {
      super(node);
    }

    @Override
    public NodeStatus status() {
      NodeStatus now = super.status();
      if (down) {
        now = new NodeStatus(NodeStatus.State.CONNECTING, now.connection(), 0, 0, "down");
      }
      if (changes.compareAndSet(true, false)) {
        down = true;
        otherThread.run();
      }
      return now;
    }
  }

  @Test
  void nodeState_thatChangesWhileItIsReported_isReportedLast() {
    List<NodeState> told = new CopyOnWriteArrayList<>();
    Flapping node = new Flapping(nodes[0].another());
    dev.redlock.spi.LockNode.Listener[] client = new dev.redlock.spi.LockNode.Listener[1];
    LockNode capturing =
        new ForwardingLockNode(node) {
          @Override
          protected dev.redlock.spi.LockNode.Listener listener(
              dev.redlock.spi.LockNode.Listener given) {
            client[0] = super.listener(given);
            return client[0];
          }
        };
    try (Redlock redlock =
        Redlock.builder()
            .nodes(capturing)
            .restartGuard(RestartGuard.OFF)
            .listener(
                new RedlockListener() {
                  @Override
                  public void onNode(NodeState state) {
                    told.add(state);
                  }
                })
            .build()) {
      assertThat(redlock.awaitReady(WAIT)).isTrue();
      node.otherThread = () -> client[0].onStatus(node);
      node.changes.set(true);
      client[0].onStatus(node);
      await().atMost(WAIT).until(() -> told.stream().anyMatch(s -> s.cause().equals("down")));
      await()
          .atMost(WAIT)
          .untilAsserted(
              () ->
                  assertThat(told.get(told.size() - 1).state())
                      .isEqualTo(NodeState.State.CONNECTING));
    }
  }

  @Test
  @Timeout(60)
  void nodeState_thatDiffersAtEachCall_endsTheReport() {
    AtomicInteger calls = new AtomicInteger();
    LockNode restless =
        new ForwardingLockNode(nodes[0].another()) {
          @Override
          public NodeStatus status() {
            NodeStatus s = super.status();
            String cause = "call " + calls.incrementAndGet();
            return new NodeStatus(s.state(), s.connection(), s.sinceNanos(), s.untilNanos(), cause);
          }
        };
    try (Redlock redlock =
        Redlock.builder().nodes(restless).restartGuard(RestartGuard.OFF).build()) {
      assertThat(redlock.awaitReady(WAIT)).isTrue();
      redlock.lock("a").acquire(WAIT).close();
    }
    assertThat(calls).hasPositiveValue();
  }

  @Test
  void waiterOfARefusal_withAThreadThatIsInterrupted_leavesOnce() throws InterruptedException {
    Checked checked = new Checked();
    try (Redlock client = client(checked);
        Lease held = client.lock("a").acquire(WAIT)) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  client.lock("a").acquire(WAIT);
                } catch (dev.redlock.RedlockInterruptedException | LockTimeoutException e) {
                  // Expected.
                }
              });
      thread.start();
      await().atMost(WAIT).until(() -> checked.joined.get() == 2);
      thread.interrupt();
      thread.join();
      await().atMost(WAIT).until(() -> checked.left.get() == 2);
      assertThat(held.isValid()).isTrue();
    }
  }
}
