package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BlockingCallsTest {
  private final CountDownLatch end = new CountDownLatch(1);
  private final BlockingCalls calls = new BlockingCalls(new SharedResources(null).blocking());

  @AfterEach
  void end() {
    end.countDown();
  }

  private List<CompletableFuture<Thread>> hang(String subject, int count) throws Exception {
    CountDownLatch begun = new CountDownLatch(count);
    List<CompletableFuture<Thread>> results = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      results.add(
          calls.call(
              subject,
              () -> {
                begun.countDown();
                end.await();
                return CompletableFuture.completedStage(Thread.currentThread());
              }));
    }
    begun.await();
    return results;
  }

  private CompletableFuture<String> call(String subject) {
    return calls.call(subject, () -> CompletableFuture.completedStage("done"));
  }

  @Test
  void callsThatHang_delayNoOtherSubject_andAreBounded_andWorkAgainWhenTheyReturn()
      throws Exception {
    List<CompletableFuture<Thread>> hung = hang("the lookup of a", BlockingCalls.MAX_EACH);

    assertThat(call("the lookup of b").get()).isEqualTo("done");
    assertThatThrownBy(call("the lookup of a")::get)
        .hasMessageContaining("the lookup of a has not returned");
    assertThat(calls.pending()).contains("the lookup of a").endsWith(" has not returned");
    assertThatThrownBy(() -> calls.executor("the lookup of a").execute(() -> {}))
        .isInstanceOf(RejectedExecutionException.class);

    end.countDown();
    for (CompletableFuture<Thread> each : hung) {
      Thread thread = each.get();
      assertThat(thread.isDaemon()).isTrue();
      thread.join();
    }
    assertThat(call("the lookup of a").get()).isEqualTo("done");
  }

  /** A thread that an interrupt wakes fails its call as well, with the wrong reason. */
  @Test
  void close_failsTheCallsUnderWay_thenInterruptsThem_andRefusesFurtherOnes() throws Exception {
    CompletableFuture<CompletableFuture<Void>> begun = new CompletableFuture<>();
    CompletableFuture<Boolean> doneWhenInterrupted = new CompletableFuture<>();
    BlockingCalls slow =
        new BlockingCalls(
            task ->
                new Thread(task) {
                  @Override
                  public void interrupt() {
                    doneWhenInterrupted.complete(begun.join().isDone());
                    super.interrupt();
                  }
                }.start());
    CountDownLatch running = new CountDownLatch(1);
    CompletableFuture<Void> call =
        slow.call(
            "a supplier",
            () -> {
              running.countDown();
              end.await();
              return CompletableFuture.completedStage(null);
            });
    begun.complete(call);
    running.await();

    slow.close();

    assertThatThrownBy(call::get).hasMessageContaining("the client is closed");
    assertThat(doneWhenInterrupted.get()).isTrue();
    assertThatThrownBy(() -> slow.call("a supplier", () -> null).get())
        .hasMessageContaining("the client is closed");
  }

  @Test
  void callThatThrows_orForWhichThereIsNoThread_fails() {
    assertThatThrownBy(
            calls.call(
                    "a supplier",
                    () -> {
                      throw new IllegalStateException("sealed");
                    })
                ::get)
        .hasMessageContaining("sealed");
    BlockingCalls without =
        new BlockingCalls(
            task -> {
              throw new OutOfMemoryError("no thread");
            });
    assertThatThrownBy(without.call("x", () -> CompletableFuture.completedStage(1))::get)
        .hasRootCauseMessage("no thread");
    assertThat(without.pending()).isEmpty();
  }
}
