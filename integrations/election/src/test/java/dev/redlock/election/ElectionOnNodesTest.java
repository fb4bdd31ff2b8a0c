package dev.redlock.election;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.harness.CapturedLog;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Elections of clients on nodes in memory: work that blocks, and a client that is closed. */
@Timeout(120)
class ElectionOnNodesTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };
  private final CountDownLatch over = new CountDownLatch(1);
  private final AtomicInteger blocked = new AtomicInteger();

  @AfterEach
  void unblock() {
    over.countDown();
  }

  private RedlockBuilder client() {
    LockNode[] own = new LockNode[nodes.length];
    for (int i = 0; i < own.length; i++) {
      own[i] = nodes[i].another();
    }
    return Redlock.builder()
        .nodes(own)
        .restartGuard(RestartGuard.OFF)
        .nodeTimeout(Duration.ofSeconds(1));
  }

  private void block() {
    blocked.incrementAndGet();
    try {
      over.await(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private final class BlockingWork implements LeaderElection.Work {
    final Queue<LeaderElection.StopReason> stops = new ConcurrentLinkedQueue<>();

    @Override
    public CompletionStage<?> startWork(Lease lease) {
      lease.whenEnded().thenAccept(end -> block());
      block();
      return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
      stops.add(reason);
      return CompletableFuture.completedStage(null);
    }
  }

  /** Without the fix the work continues while another instance may already be elected. */
  private void elections_whoseWorkBlocks(Redlock redlock, int count) {
    // A short pause of the machine neither keeps the lease from being extended before the margin,
    // nor is as long as the margin.
    Duration leaseTime = Duration.ofSeconds(6);
    LockOptions brief =
        LockOptions.builder().leaseTime(leaseTime).nodeTimeout(Duration.ofSeconds(1)).build();
    BlockingWork[] works = new BlockingWork[count];
    for (int i = 0; i < count; i++) {
      works[i] = new BlockingWork();
      LeaderElection.builder(redlock, "election-" + i, works[i])
          .options(brief)
          .stopMargin(leaseTime.dividedBy(2))
          .build()
          .start();
    }
    Awaitility.await("all work").atMost(WAIT).until(() -> blocked.get() >= count);
    for (InMemoryLockNode node : nodes) {
      node.hang();
    }
    for (BlockingWork work : works) {
      Awaitility.await("it is told to stop").atMost(WAIT).until(() -> !work.stops.isEmpty());
      assertThat(work.stops).containsExactly(LeaderElection.StopReason.LEASE_ENDING);
    }
    for (InMemoryLockNode node : nodes) {
      node.resume();
    }
  }

  @Test
  void elections_whoseWorkBlocks_areAllToldToStopBeforeValidityEnds() {
    try (Redlock redlock = client().build()) {
      elections_whoseWorkBlocks(redlock, 10);
      over.countDown();
    }
  }

  @Test
  void elections_whileTheCallbackExecutorIsBlocked_areToldToStop() {
    try (Redlock redlock = client().callbackExecutor(task -> grantsOnly(task)).build()) {
      elections_whoseWorkBlocks(redlock, 2);
      over.countDown();
    }
  }

  /** Runs the callbacks of two grants. Afterwards it accepts callbacks and never runs them. */
  private final AtomicInteger ran = new AtomicInteger();

  private void grantsOnly(Runnable task) {
    if (ran.incrementAndGet() <= 2) {
      new Thread(task).start();
    }
  }

  /** Decorates the client, its locks and their leases, as an aspect of an application may do. */
  private static <T> T decorated(Class<T> type, Object plain) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, args) -> {
              try {
                return decorated(method.invoke(plain, args));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  private static Object decorated(Object result) {
    if (result instanceof DistributedLock) {
      return decorated(DistributedLock.class, result);
    } else if (result instanceof Lease) {
      return decorated(Lease.class, result);
    } else if (result instanceof Optional<?> some) {
      return some.map(ElectionOnNodesTest::decorated);
    } else if (result instanceof CompletableFuture<?> future) {
      return future.thenApply(ElectionOnNodesTest::decorated);
    }
    return result;
  }

  /** Work that counts its starts, and remembers why it was told to stop. */
  private static final class CountedWork implements LeaderElection.Work {
    final Queue<LeaderElection.StopReason> stops = new ConcurrentLinkedQueue<>();
    final AtomicInteger starts = new AtomicInteger();

    @Override
    public CompletionStage<?> startWork(Lease lease) {
      starts.incrementAndGet();
      return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
      stops.add(reason);
      return CompletableFuture.completedStage(null);
    }

    void awaitStart(int count) {
      Awaitility.await("work").atMost(WAIT).until(() -> starts.get() >= count);
    }
  }

  /** The first grant comes from tryAcquire, the second from acquire. */
  @Test
  void election_onADecoratedClient_worksAndIsToldOfTheEndOfItsLease() {
    CountedWork work = new CountedWork();
    try (Redlock redlock = client().build();
        LeaderElection election =
            LeaderElection.builder(decorated(Redlock.class, redlock), "e", work).build()) {
      election.start();
      work.awaitStart(1);
      redlock.operations().breakLock("e").toCompletableFuture().join();
      Awaitility.await("told").atMost(WAIT).until(() -> !work.stops.isEmpty());
      assertThat(work.stops).containsExactly(LeaderElection.StopReason.LEASE_LOST);
      work.awaitStart(2);
    }
  }

  @Test
  void leaderChanges_areLogged_andTheLossOfTheLeaseIsAWarning() {
    CountedWork work = new CountedWork();
    List<ILoggingEvent> lines;
    try (CapturedLog log = new CapturedLog();
        Redlock redlock = client().build()) {
      try (LeaderElection election = LeaderElection.builder(redlock, "e-log", work).build()) {
        election.start();
        work.awaitStart(1);
        redlock.operations().breakLock("e-log").toCompletableFuture().join();
        work.awaitStart(2);
      }
      lines = log.events().toList();
    }
    assertThat(lines)
        .filteredOn(line -> line.getFormattedMessage().startsWith("election on e-log: "))
        .extracting(line -> line.getLevel() + " " + line.getFormattedMessage())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("INFO ").contains("leads, with token"),
            line -> assertThat(line).startsWith("WARN ").endsWith("stops leading: LEASE_LOST"),
            line -> assertThat(line).startsWith("INFO ").contains("leads, with token"),
            line -> assertThat(line).startsWith("INFO ").endsWith("stops leading: STOPPED"));
  }

  @Test
  void election_whoseWorkDoesNotStop_isOverAfterItsStopTimeoutThoughTheClientIsClosed()
      throws Exception {
    Redlock client = client().build();
    CountDownLatch works = new CountDownLatch(1);
    LeaderElection election =
        LeaderElection.builder(
                client,
                "e",
                new LeaderElection.Work() {
                  @Override
                  public CompletionStage<?> startWork(Lease lease) {
                    works.countDown();
                    return CompletableFuture.completedStage(null);
                  }

                  @Override
                  public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
                    return new CompletableFuture<>();
                  }
                })
            .stopTimeout(Duration.ofMillis(200))
            .build();
    election.start();
    assertThat(works.await(20, TimeUnit.SECONDS)).isTrue();
    client.close();
    election.stop().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  @Test
  void election_whoseClientClosesWithAGracePeriod_stopsItsWorkBeforeAnotherInstanceWorks()
      throws Exception {
    Queue<String> events = new ConcurrentLinkedQueue<>();
    Redlock first = client().build();
    LeaderElection leader = LeaderElection.builder(first, "e", new Work("first", events)).build();
    leader.start();
    Awaitility.await().atMost(WAIT).until(() -> events.contains("first works"));
    try (Redlock second = client().build()) {
      LeaderElection successor =
          LeaderElection.builder(second, "e", new Work("second", events)).build();
      successor.start();
      first.close(Duration.ofMinutes(1));
      assertThat(events).startsWith("first works", "first stops: STOPPED");
      Awaitility.await().atMost(WAIT).until(() -> events.contains("second works"));
      Awaitility.await().atMost(WAIT).until(() -> leader.state() == LeaderElection.State.IDLE);
      successor.close();
    }
  }

  private record Work(String name, Queue<String> events) implements LeaderElection.Work {
    @Override
    public CompletionStage<?> startWork(Lease lease) {
      events.add(name + " works");
      return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
      events.add(name + " stops: " + reason);
      return CompletableFuture.completedStage(null);
    }
  }
}
