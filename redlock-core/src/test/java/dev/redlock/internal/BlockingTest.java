package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
}
