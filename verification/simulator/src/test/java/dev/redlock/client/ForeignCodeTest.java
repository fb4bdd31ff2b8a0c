package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.RedlockListener;
import dev.redlock.harness.CapturedLog;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import dev.redlock.testkit.internal.Waiting;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Ports, timers and listeners of a user may throw. The locks continue, and the client logs the
 * exception once.
 */
@Timeout(60)
class ForeignCodeTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  /** A short pause of the machine must not end a lease. */
  private static final Duration LEASE = Duration.ofSeconds(2);

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };
  private final CapturedLog log = new CapturedLog();

  @AfterEach
  void stopListening() {
    log.close();
  }

  private List<String> errors() {
    return log.lines(Level.ERROR, "");
  }

  private static RedlockBuilder on(LockNode... nodes) {
    return Redlock.builder()
        .nodes(nodes)
        .restartGuard(RestartGuard.OFF)
        .nodeTimeout(Duration.ofSeconds(1));
  }

  /** Acquires, extends, hands off and releases a name, again and again. */
  private void useManyTimes(Redlock redlock) {
    DistributedLock lock =
        redlock.lock(
            "name", LockOptions.builder().leaseTime(LEASE).nodeTimeout(LEASE.dividedBy(4)).build());
    for (int i = 0; i < 20; i++) {
      Lease lease = lock.acquire(WAIT);
      var next = lock.acquireAsync(WAIT);
      lease.close();
      next.orTimeout(20, TimeUnit.SECONDS).join().close();
    }
    try (Lease lease = lock.acquire(WAIT)) {
      long begin = System.nanoTime();
      Waiting.until(
          "the lease time passes", WAIT, () -> System.nanoTime() - begin > LEASE.toNanos());
      assertThat(lease.isValid()).as("is extended").isTrue();
    }
    for (InMemoryLockNode node : nodes) {
      Waiting.until("it is released", WAIT, () -> node.holder("name") == null);
    }
  }

  private static final class ThrowingHints implements ReleaseHints {
    @Override
    public void start(Receiver receiver) {
      // Throws only later.
    }

    @Override
    public void waiting(String name) {
      throw new RejectedExecutionException("the event loop is shut down");
    }

    @Override
    public void idle(String name) {
      throw new AssertionError("an error is no exception");
    }

    @Override
    public void ended(Ended ended) {
      throw new StackOverflowError();
    }

    @Override
    public void close() {
      throw new IllegalStateException("closed before");
    }
  }

  @Test
  void hints_thatThrow_leaveTheNameUsableAndAreLoggedOnce() {
    try (Redlock redlock = on(nodes).hints(new ThrowingHints()).build()) {
      useManyTimes(redlock);
    }
    assertThat(errors()).hasSizeBetween(3, 5);
    assertThat(errors()).allMatch(message -> message.contains("ThrowingHints"));
  }

  private record ThrowingNode() implements LockNode {
    @Override
    public String name() {
      return "throwing";
    }

    @Override
    public void start(LockNode.Context context) {
      // The node reports that it votes already.
    }

    @Override
    public NodeStatus status() {
      throw new IllegalStateException("no status");
    }

    @Override
    public void send(LockRequest request, Consumer<NodeReply> handler) {
      throw new LinkageError("not today");
    }

    @Override
    public void waiting(LockKeys keys) {
      throw new UnsupportedOperationException("waiting");
    }

    @Override
    public void idle(LockKeys keys) {
      throw new NoClassDefFoundError("idle");
    }

    @Override
    public void close() {
      throw new IllegalStateException("close");
    }
  }

  @Test
  void node_thatThrowsFromEveryMethod_isAnotherSilentOneAndIsLoggedOnce() {
    LockNode[] mixed = {nodes[0], nodes[1], nodes[2], new ThrowingNode()};
    try (Redlock redlock = on(mixed).build()) {
      useManyTimes(redlock);
      assertThat(redlock.operations().nodes()).hasSize(4);
      assertThat(redlock.operations().doctor().toCompletableFuture()).succeedsWithin(WAIT);
    }
    assertThat(errors()).hasSizeLessThan(8);
  }

  /** Clocks that run, and a timer that rejects every task. */
  private static final class NoTimer implements Time {
    @Override
    public long nanos() {
      return System.nanoTime();
    }

    @Override
    public long wallMillis() {
      return System.currentTimeMillis();
    }

    @Override
    public Cancellable schedule(Runnable task, long delayNanos) {
      throw new RejectedExecutionException("the timer is shut down");
    }
  }

  @Test
  void timer_thatTakesNothing_isReplacedByOneOfTheClient() {
    try (Redlock redlock = on(nodes).time(new NoTimer()).build()) {
      useManyTimes(redlock);
    }
    assertThat(errors()).hasSize(1);
  }

  @Test
  void listener_thatThrowsErrors_getsTheNextEventAndEndsNoThread() {
    Queue<Throwable> escaped = new ConcurrentLinkedQueue<>();
    AtomicInteger acquired = new AtomicInteger();
    RedlockListener listener =
        new RedlockListener() {
          @Override
          public void onAcquired(Lease lease, Duration waited) {
            acquired.incrementAndGet();
            throw new AssertionError("of the listener");
          }
        };
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (Redlock redlock =
        on(nodes)
            .listener(listener)
            .callbackExecutor(
                task ->
                    thread.execute(
                        () -> {
                          try {
                            task.run();
                          } catch (Throwable e) {
                            escaped.add(e);
                          }
                        }))
            .build()) {
      for (int i = 0; i < 10; i++) {
        redlock.lock("name").acquire(WAIT).close();
      }
      Waiting.until("all are told", WAIT, () -> acquired.get() == 10);
    }
    thread.shutdown();
    assertThat(escaped).isEmpty();
    assertThat(errors()).hasSize(1);
  }
}
