package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BlockingTest {
  @Test
  void result_thatSeveralThreadsWaitFor_wakesAllOfThem() throws InterruptedException {
    CompletableFuture<Boolean> result = new CompletableFuture<>();
    Blocking blocking = new Blocking(Platform.JVM, new SystemTime());
    List<Thread> waiting = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      Thread thread = new Thread(() -> blocking.await(result));
      thread.setDaemon(true);
      thread.start();
      waiting.add(thread);
    }
    for (Thread thread : waiting) {
      while (thread.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
    }
    result.complete(true);
    for (Thread thread : waiting) {
      thread.join(TimeUnit.SECONDS.toMillis(20));
      assertThat(thread.isAlive()).isFalse();
    }
  }

  @Test
  void wait_interruptedAgainAndAgain_leavesOneDependentAtTheResult() {
    CompletableFuture<Boolean> result = new CompletableFuture<>();
    AtomicInteger parks = new AtomicInteger();
    AtomicInteger dependents = new AtomicInteger();
    Platform interrupting =
        new Platform() {
          @Override
          void park(CompletableFuture<?> until, long nanos) {
            dependents.set(until.getNumberOfDependents());
            if (parks.incrementAndGet() < 100) {
              Thread.currentThread().interrupt();
            } else {
              result.complete(true);
            }
          }
        };
    new Blocking(interrupting, new SystemTime()).awaitUninterruptibly(result, Long.MAX_VALUE / 4);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(parks).hasValue(100);
    assertThat(dependents).hasValue(1);
  }
}
