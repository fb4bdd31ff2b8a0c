package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.RedlockClosedException;
import dev.redlock.RedlockInterruptedException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReadinessTest {
  private static final Blocking BLOCKING = new Blocking(Platform.JVM, new SystemTime());

  private final Queue<Runnable> callbacks = new ArrayDeque<>();
  private volatile boolean quorum;
  private final Readiness readiness = new Readiness(() -> quorum);

  private void runCallbacks() {
    while (!callbacks.isEmpty()) {
      Objects.requireNonNull(callbacks.poll()).run();
    }
  }

  @Test
  void ready_quorumVotesAlready_completesByTheCallbacks() {
    quorum = true;
    CompletableFuture<Void> ready = readiness.ready(callbacks::add);
    assertThat(ready).isNotDone();
    runCallbacks();
    assertThat(ready).isCompleted();
    assertThat(readiness.await(Duration.ZERO, BLOCKING)).isTrue();
  }

  @Test
  void ready_givenUpByTheUser_isForgotten() {
    assertThat(readiness.ready(callbacks::add).cancel(false)).isTrue();
    quorum = true;
    readiness.review();
    assertThat(callbacks).isEmpty();
  }

  @Test
  void ready_quorumVotesLater_completesThen_forEachCaller() {
    CompletableFuture<Void> first = readiness.ready(callbacks::add);
    CompletableFuture<Void> second = readiness.ready(callbacks::add);
    readiness.review();
    runCallbacks();
    assertThat(first).isNotDone();
    assertThat(readiness.await(Duration.ZERO, BLOCKING)).isFalse();
    quorum = true;
    readiness.review();
    runCallbacks();
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
  }

  @Test
  void ready_clientCloses_failsAsClosed_alsoWhenAskedLater() {
    CompletableFuture<Void> before = readiness.ready(callbacks::add);
    readiness.close();
    CompletableFuture<Void> after = readiness.ready(callbacks::add);
    runCallbacks();
    for (CompletableFuture<Void> ready : List.of(before, after)) {
      assertThatThrownBy(ready::join)
          .isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(RedlockClosedException.class);
    }
    assertThatThrownBy(() -> readiness.await(Duration.ofDays(1), BLOCKING))
        .isInstanceOf(RedlockClosedException.class);
  }

  @Test
  void await_clientClosesMeanwhile_endsAsClosed() {
    CompletableFuture<Boolean> waits =
        CompletableFuture.supplyAsync(
            () -> readiness.await(Duration.ofSeconds(Long.MAX_VALUE), BLOCKING));
    readiness.close();
    assertThatThrownBy(() -> waits.get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(RedlockClosedException.class);
  }

  @Test
  void await_interrupted_throwsAndKeepsTheFlag() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> readiness.await(Duration.ofDays(1), BLOCKING))
        .isInstanceOf(RedlockInterruptedException.class);
    assertThat(Thread.interrupted()).isTrue();
  }
}
