package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.redlock.DistributedLock;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens to the body of {@code withLock} when the client loses the lease or the nodes. */
@Timeout(60)
class WithLockTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };
  private Redlock operator;

  @BeforeEach
  void connect() {
    operator = client().build();
    assertThat(operator.awaitReady(WAIT)).isTrue(); // It writes the first record.
  }

  @AfterEach
  void disconnect() {
    operator.close();
  }

  private RedlockBuilder client() {
    LockNode[] own = new LockNode[nodes.length];
    for (int i = 0; i < own.length; i++) {
      own[i] = nodes[i].another();
    }
    return Redlock.builder().nodes(own).restartGuard(RestartGuard.OFF);
  }

  private static DistributedLock interrupting(Redlock redlock) {
    return redlock.lock("body", LockOptions.builder().interruptOnLoss(true).build());
  }

  private void takeAway() {
    operator
        .operations()
        .breakLock("body")
        .toCompletableFuture()
        .orTimeout(20, TimeUnit.SECONDS)
        .join();
  }

  @Test
  void loss_duringTheBody_interruptsItWhenAskedTo() {
    try (Redlock redlock = client().build()) {
      LeaseLostException lost =
          catchThrowableOfType(
              LeaseLostException.class,
              () ->
                  interrupting(redlock)
                      .withLock(
                          WAIT,
                          lease -> {
                            takeAway();
                            try {
                              new CountDownLatch(1).await();
                              return "never";
                            } catch (InterruptedException e) {
                              throw new IllegalStateException("interrupted", e);
                            }
                          }));
      assertThat(lost.end()).isEqualTo(LeaseEnd.LOST);
      assertThat(lost).hasSuppressedException(new IllegalStateException("interrupted"));
      assertThat(Thread.interrupted()).isFalse();
    }
  }

  @Test
  void loss_duringTheBody_leavesItAloneUnlessAskedTo() {
    try (Redlock redlock = client().build()) {
      boolean[] interrupted = new boolean[1];
      assertThatThrownBy(
              () ->
                  redlock
                      .lock("body")
                      .withLock(
                          WAIT,
                          lease -> {
                            takeAway();
                            lease.whenEnded().toCompletableFuture().join();
                            interrupted[0] = Thread.currentThread().isInterrupted();
                            return "done";
                          }))
          .isInstanceOf(LeaseLostException.class);
      assertThat(interrupted[0]).isFalse();
      assertThat(Thread.interrupted()).isFalse();
    }
  }

  @Test
  void loss_whileTheCallbackExecutorRunsNothing_interruptsTheBodyAllTheSame() {
    try (Redlock redlock = client().callbackExecutor(never -> {}).build()) {
      assertThatThrownBy(
              () ->
                  interrupting(redlock)
                      .withLock(
                          WAIT,
                          lease -> {
                            takeAway();
                            try {
                              new CountDownLatch(1).await();
                              return "never";
                            } catch (InterruptedException e) {
                              return "interrupted";
                            }
                          }))
          .isInstanceOf(LeaseLostException.class);
      assertThat(Thread.interrupted()).isFalse();
    }
  }

  @Test
  void release_ofTheBodysOwn_isNoLoss() {
    try (Redlock redlock = client().build()) {
      String result =
          interrupting(redlock)
              .withLock(
                  WAIT,
                  lease -> {
                    lease.releaseAsync().toCompletableFuture().join();
                    return "done";
                  });
      assertThat(result).isEqualTo("done");
      assertThat(Thread.interrupted()).isFalse();
    }
  }

  @Test
  void bodyFails_andSoDoesTheRelease_throwsWhatTheBodyThrew() {
    IllegalStateException mine = new IllegalStateException("mine");
    try (Redlock redlock = client().build()) {
      assertThatThrownBy(
              () ->
                  redlock
                      .lock("body")
                      .withLock(
                          WAIT,
                          lease -> {
                            for (InMemoryLockNode node : nodes) {
                              node.kill();
                            }
                            throw mine;
                          }))
          .isSameAs(mine);
      assertThat(mine).hasNoSuppressedExceptions();
    }
  }

  @Test
  void bodyReturns_andTheReleaseFails_returnsItsResult() {
    try (Redlock redlock = client().build()) {
      int result =
          redlock
              .lock("body")
              .<Integer, RuntimeException>withLock(
                  WAIT,
                  lease -> {
                    for (InMemoryLockNode node : nodes) {
                      node.hang();
                    }
                    return 42;
                  });
      assertThat(result).isEqualTo(42);
    }
  }
}
