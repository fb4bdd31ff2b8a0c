package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.harness.CapturedLog;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The threads of a client when its close returns. */
@Timeout(120)
class CloseTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final Set<Thread> before = threads();
  private final Redlock redlock =
      Redlock.builder()
          .nodes(InMemoryLockNode.create("a"))
          .restartGuard(RestartGuard.OFF)
          .nodeTimeout(Duration.ofSeconds(1))
          .build();

  /** The threads of clients; those of clients of other tests may be among them. */
  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("redlock-"))
        .collect(Collectors.toSet());
  }

  private Set<Thread> left() {
    Set<Thread> left = new HashSet<>(threads());
    left.removeAll(before);
    left.removeIf(thread -> !thread.isAlive());
    return left;
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(WAIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Runs the task as the callback of a lease that ends. */
  private CompletableFuture<Void> inACallback(String name, Runnable task) {
    Lease lease = redlock.lock(name).acquire(WAIT);
    CompletableFuture<Void> done = lease.whenEnded().thenRun(task).toCompletableFuture();
    lease.close();
    return done;
  }

  @Test
  void close_returns_whenTheThreadsOfTheClientHaveEnded() {
    inACallback("a", () -> {}).join();
    redlock.close();
    assertThat(left()).isEmpty();
  }

  @Test
  void close_whileACallbackBlocks_givesUpAndSaysSo() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    CompletableFuture<Void> callback =
        inACallback(
            "a",
            () -> {
              begun.countDown();
              await(release);
            });
    await(begun);
    try (CapturedLog log = new CapturedLog()) {
      redlock.close();
      assertThat(log.lines(Level.WARN, "not all of its threads have ended")).hasSize(1);
    }
    assertThat(callback).isNotDone();
    release.countDown();
    callback.get(WAIT.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void close_inTwoCallbacksAtOnce_returnsInBoth() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    Runnable close =
        () -> {
          both.countDown();
          await(both);
          redlock.close();
        };
    try (CapturedLog log = new CapturedLog()) {
      CompletableFuture<Void> first = inACallback("a", close);
      CompletableFuture<Void> second = inACallback("b", close);
      first.get(WAIT.toSeconds(), TimeUnit.SECONDS);
      second.get(WAIT.toSeconds(), TimeUnit.SECONDS);
      redlock.close();
      assertThat(log.lines(Level.WARN, "not all of its threads have ended")).isEmpty();
    }
    assertThat(left()).isEmpty();
  }
}
