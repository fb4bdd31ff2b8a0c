package dev.redlock.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.Redlock;
import dev.redlock.election.LeaderElection.State;
import dev.redlock.election.LeaderElection.StopReason;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Elections whose work is one blocking task. */
@Timeout(120)
class TaskElectionTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };
  private final Redlock redlock = client();
  private final Redlock other = client();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  private Redlock client() {
    LockNode[] own = new LockNode[nodes.length];
    for (int i = 0; i < own.length; i++) {
      own[i] = nodes[i].another();
    }
    return Redlock.builder()
        .nodes(own)
        .restartGuard(RestartGuard.OFF)
        .nodeTimeout(Duration.ofSeconds(1))
        .build();
  }

  @AfterEach
  void close() {
    redlock.close();
    other.close();
  }

  private LeaderElection election(LeaderElection.Task task) {
    LeaderElection election =
        LeaderElection.builder(redlock, "task", task)
            .retryPause(Duration.ofMillis(10))
            .listener(
                new LeaderElection.Listener() {
                  @Override
                  public void onFailure(Throwable failure) {
                    failures.add(failure);
                  }
                })
            .build();
    election.start();
    return election;
  }

  private static void untilInterrupted() throws InterruptedException {
    new CountDownLatch(1).await();
  }

  @Test
  void stop_taskThatBlocks_isInterruptedBeforeTheLockIsFree() {
    AtomicInteger running = new AtomicInteger();
    LeaderElection election =
        election(
            lease -> {
              running.incrementAndGet();
              try {
                untilInterrupted();
              } finally {
                assertThat(other.lock("task").tryAcquire()).isEmpty();
                running.decrementAndGet();
              }
            });
    await().atMost(WAIT).until(() -> running.get() == 1);
    assertThat(election.state()).isEqualTo(State.WORKING);
    election.stop().toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
    assertThat(running).hasValue(0);
    assertThat(failures).isEmpty();
    other.lock("task").acquire(WAIT).release();
  }

  @Test
  void task_thatReturns_resignsAndRunsAgain() {
    AtomicInteger runs = new AtomicInteger();
    election(
        lease -> {
          if (runs.incrementAndGet() > 2) {
            untilInterrupted();
          }
        });
    await().atMost(WAIT).until(() -> runs.get() == 3);
    assertThat(failures).isEmpty();
  }

  @Test
  void task_thatThrows_isReportedAndRunsAgain() {
    IllegalStateException mine = new IllegalStateException("mine");
    AtomicInteger runs = new AtomicInteger();
    election(
        lease -> {
          if (runs.incrementAndGet() == 1) {
            throw mine;
          }
          untilInterrupted();
        });
    await().atMost(WAIT).until(() -> runs.get() == 2);
    assertThat(failures).containsExactly(mine);
  }

  @Test
  void lossOfTheLease_interruptsTheTask() {
    AtomicInteger runs = new AtomicInteger();
    AtomicInteger ended = new AtomicInteger();
    election(
        lease -> {
          runs.incrementAndGet();
          try {
            untilInterrupted();
          } finally {
            ended.incrementAndGet();
          }
        });
    await().atMost(WAIT).until(() -> runs.get() == 1);
    other
        .operations()
        .breakLock("task")
        .toCompletableFuture()
        .orTimeout(20, TimeUnit.SECONDS)
        .join();
    await().atMost(WAIT).until(() -> ended.get() == 1 && runs.get() == 2);
  }

  @Test
  void stopWork_beforeStartWork_keepsTheTaskFromRunning() {
    AtomicInteger runs = new AtomicInteger();
    TaskWork work = new TaskWork(lease -> runs.incrementAndGet());
    CompletionStage<?> stopped = work.stopWork(StopReason.STOPPED);
    assertThat(stopped.toCompletableFuture()).isNotDone();
    work.startWork(null);
    assertThat(stopped.toCompletableFuture()).isDone();
    assertThat(runs).hasValue(0);
    work.startWork(null);
    assertThat(runs).as("the next tenure").hasValue(1);
  }

  @Test
  void interrupt_ofATaskThatEndedAtTheSameTime_doesNotOutliveIt() {
    TaskWork[] work = new TaskWork[1];
    work[0] = new TaskWork(lease -> work[0].stopWork(StopReason.STOPPED));
    work[0].startWork(null);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }
}
