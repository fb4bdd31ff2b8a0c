package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.RedlockInterruptedException;
import dev.redlock.SimulatedBuilder;
import dev.redlock.harness.memory.InMemoryLockNode;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The variants of acquire, withLock, extend and release that a user finds first. */
@Timeout(60)
class LockVariantsTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  /** Long enough that a round is decided on a busy machine. */
  private static final Duration SHORT = Duration.ofSeconds(1);

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };
  private Redlock redlock;
  private Redlock other;

  @BeforeEach
  void connect() {
    redlock = client();
    other = client();
  }

  @AfterEach
  void disconnect() {
    redlock.close();
    other.close();
  }

  private Redlock client() {
    Redlock client = SimulatedBuilder.on(nodes).build();
    assertThat(client.awaitReady(WAIT)).isTrue();
    return client;
  }

  private DistributedLock lock() {
    return redlock.lock("v");
  }

  private boolean isFree() {
    return nodes[0].holder("v") == null
        && nodes[1].holder("v") == null
        && nodes[2].holder("v") == null;
  }

  private void takeAway() {
    other.operations().breakLock("v").toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }

  /** Runs this work under the lock, and tells its lease when it runs. */
  private CompletableFuture<String> running(
      CompletableFuture<String> work, CompletableFuture<Lease> seen) {
    return lock()
        .withLockAsync(
            WAIT,
            lease -> {
              seen.complete(lease);
              return work;
            });
  }

  @Test
  void tryAcquire_isEmptyIfTheTimeoutComesFirst_andALeaseIfTheReleaseDoes() {
    Lease held = other.lock("v").acquire(WAIT);
    assertThat(lock().tryAcquire(SHORT)).isEmpty();
    assertThat(lock().tryAcquireAsync(SHORT).join()).isEmpty();
    assertThat(held.isValid()).isTrue();
    var waiting = lock().tryAcquireAsync(WAIT);
    held.release();
    waiting.join().orElseThrow().release();
  }

  @Test
  void tryAcquire_withoutAQuorum_throws() {
    nodes[0].kill();
    nodes[1].kill();
    assertThatThrownBy(() -> lock().tryAcquire(SHORT))
        .isInstanceOf(QuorumUnavailableException.class);
  }

  @Test
  void tryAcquire_negativeTime_isRefusedWithTheNumber() {
    assertThatThrownBy(() -> lock().tryAcquire(Duration.ofMillis(-5)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("waitTimeout -5 ms must not be negative");
  }

  @Test
  void withLock_bodyThrowsACheckedException_throwsIt() {
    SQLException mine = new SQLException("mine");
    assertThatThrownBy(
            () ->
                lock()
                    .withLock(
                        WAIT,
                        lease -> {
                          throw mine;
                        }))
        .isSameAs(mine);
    await().atMost(WAIT).until(this::isFree);
  }

  @Test
  void runWithLock_taskWithoutAResult_runsUnderTheLock() throws IOException {
    boolean[] held = new boolean[1];
    lock().runWithLock(WAIT, lease -> held[0] = write(lease));
    assertThat(held[0]).isTrue();
    await().atMost(WAIT).until(this::isFree);
  }

  private boolean write(Lease lease) throws IOException {
    if (!lease.isValid()) {
      throw new IOException("not held");
    }
    return !isFree();
  }

  @Test
  void tryWithLock_runsTheTask_onlyIfTheLockIsFree() {
    AtomicBoolean ran = new AtomicBoolean();
    Lease held = other.lock("v").acquire(WAIT);
    assertThat(lock().tryWithLock(lease -> ran.set(true))).isFalse();
    assertThat(ran).isFalse();
    assertThat(held.isValid()).isTrue();
    held.close();
    assertThat(lock().tryWithLock(lease -> ran.set(lease.isValid()))).isTrue();
    assertThat(ran).isTrue();
    await().atMost(WAIT).until(this::isFree);
  }

  @Test
  void tryWithLock_leaseLostDuringTheTask_throws() {
    LeaseLostException lost =
        catchThrowableOfType(
            LeaseLostException.class,
            () ->
                lock()
                    .tryWithLock(
                        lease -> {
                          takeAway();
                          lease.whenEnded().toCompletableFuture().join();
                        }));
    assertThat(lost.end()).isEqualTo(LeaseEnd.LOST);
  }

  @Test
  void withLockAsync_stageCompletes_releasesThenCompletesWithItsValue() {
    CompletableFuture<String> work = new CompletableFuture<>();
    CompletableFuture<String> result = lock().withLockAsync(WAIT, lease -> work);
    await().atMost(WAIT).until(() -> !isFree());
    assertThat(other.lock("v").tryAcquire()).isEmpty();
    work.complete("done");
    assertThat(result.join()).isEqualTo("done");
    assertThat(redlock.lock("v").tryAcquire()).hasValueSatisfying(Lease::release);
  }

  @Test
  void withLockAsync_stageCompletesWithNull_completesWithNull() {
    CompletableFuture<Void> nothing = CompletableFuture.completedFuture(null);
    assertThat(lock().withLockAsync(WAIT, lease -> nothing).join()).isNull();
  }

  @Test
  void withLockAsync_stageFails_releasesAndFailsWithItsException() {
    IOException mine = new IOException("mine");
    assertThatThrownBy(
            () -> lock().withLockAsync(WAIT, lease -> CompletableFuture.failedFuture(mine)).get())
        .isInstanceOf(ExecutionException.class)
        .hasCause(mine);
    await().atMost(WAIT).until(this::isFree);
  }

  @Test
  void withLockAsync_bodyThrowsOrReturnsNull_releasesAndFails() {
    IllegalStateException mine = new IllegalStateException("mine");
    assertThatThrownBy(
            () ->
                lock()
                    .withLockAsync(
                        WAIT,
                        lease -> {
                          throw mine;
                        })
                    .get())
        .hasCause(mine);
    assertThatThrownBy(() -> lock().<String>withLockAsync(WAIT, lease -> null).get())
        .hasCauseInstanceOf(NullPointerException.class)
        .hasMessageContaining("the body returned null");
    await().atMost(WAIT).until(this::isFree);
  }

  @Test
  void withLockAsync_leaseLostBeforeTheStageCompletes_failsWithTheLoss() {
    CompletableFuture<String> work = new CompletableFuture<>();
    CompletableFuture<Lease> seen = new CompletableFuture<>();
    CompletableFuture<String> result = running(work, seen);
    Lease lease = seen.join();
    takeAway();
    lease.whenEnded().toCompletableFuture().join();
    work.complete("too late");
    assertThatThrownBy(result::get)
        .hasCauseInstanceOf(LeaseLostException.class)
        .hasMessageContaining("LOST");
  }

  @Test
  void withLockAsync_cancelledWhileItWaits_neverCallsTheBody() {
    AtomicBoolean called = new AtomicBoolean();
    CompletableFuture<String> result;
    try (Lease held = other.lock("v").acquire(WAIT)) {
      result =
          lock()
              .withLockAsync(
                  WAIT,
                  lease -> {
                    called.set(true);
                    return CompletableFuture.completedFuture("never");
                  });
      assertThat(result.cancel(false)).isTrue();
      assertThat(held.isValid()).isTrue();
    }
    other.lock("v").acquire(WAIT).release(); // Behind the cancelled attempt, if it were queued.
    await().atMost(WAIT).until(this::isFree);
    assertThat(called).isFalse();
  }

  @Test
  void withLockAsync_cancelledWhileTheBodyRuns_releasesWhenItsStageCompletes() {
    CompletableFuture<String> work = new CompletableFuture<>();
    CompletableFuture<Lease> seen = new CompletableFuture<>();
    CompletableFuture<String> result = running(work, seen);
    Lease lease = seen.join();
    assertThat(result.cancel(true)).isTrue();
    assertThat(lease.isValid()).isTrue();
    work.complete("done");
    await().atMost(WAIT).until(this::isFree);
    assertThat(lease.whenEnded().toCompletableFuture().join()).isEqualTo(LeaseEnd.RELEASED);
  }

  @Test
  void extend_andRelease_block() {
    Lease lease = lock().acquire(WAIT);
    lease.extend();
    assertThat(lease.isValid()).isTrue();
    lease.release();
    assertThat(lease.isValid()).isFalse();
    lease.release();
    assertThatThrownBy(lease::extend).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void release_withoutAQuorum_throwsAndTheLeaseHasEnded() {
    Lease lease = lock().acquire(WAIT);
    nodes[0].hang();
    nodes[1].hang();
    assertThatThrownBy(lease::release).isInstanceOf(QuorumUnavailableException.class);
    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void extend_interruptedThread_throwsAndKeepsTheFlag() throws InterruptedException {
    Lease lease = lock().acquire(WAIT);
    for (InMemoryLockNode node : nodes) {
      node.hang();
    }
    CountDownLatch done = new CountDownLatch(1);
    boolean[] flag = new boolean[1];
    Thread caller =
        new Thread(
            () -> {
              Thread.currentThread().interrupt();
              try {
                lease.extend();
              } catch (RedlockInterruptedException e) {
                flag[0] = Thread.currentThread().isInterrupted();
              }
              done.countDown();
            });
    caller.start();
    assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(flag[0]).isTrue();
    for (InMemoryLockNode node : nodes) {
      node.resume();
    }
    lease.close();
  }
}
