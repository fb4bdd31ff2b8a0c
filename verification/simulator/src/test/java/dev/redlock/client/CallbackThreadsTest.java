package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.SimulatedBuilder;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.testkit.internal.Waiting;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * User code may block. The callbacks of other users, and the steps that safety needs, do not wait
 * for it.
 */
@Timeout(120)
class CallbackThreadsTest {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final int BLOCKED = 100;

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
    return SimulatedBuilder.on(nodes);
  }

  private void block() {
    blocked.incrementAndGet();
    try {
      over.await(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void blockManyCallbacks(Redlock redlock) {
    for (int i = 0; i < BLOCKED; i++) {
      DistributedLock lock = redlock.lock("blocked-" + i);
      // Waits until the callback is registered. Otherwise it would run on this thread.
      Lease held = lock.acquire(WAIT);
      lock.acquireAsync(WAIT).thenAccept(lease -> block());
      held.releaseAsync();
    }
    Waiting.until("all of them block", WAIT, () -> blocked.get() == BLOCKED);
  }

  private static <T> T soon(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }

  @Tag("thorough")
  @Test
  void callbacks_aHundredThatBlock_harmNoLeaseAndNoOtherName() {
    try (Redlock redlock = client().build();
        Redlock operator = client().build()) {
      // Extended each second: a short pause of the machine does not end it.
      Duration leaseTime = Duration.ofSeconds(3);
      LockOptions brief =
          LockOptions.builder()
              .leaseTime(leaseTime)
              .nodeTimeout(Duration.ofSeconds(1))
              .interruptOnLoss(true)
              .build();
      Lease extended = redlock.lock("extended", brief).acquire(WAIT);
      blockManyCallbacks(redlock);
      long begin = System.nanoTime();

      soon(soon(redlock.lock("other").acquireAsync(WAIT)).releaseAsync());
      assertThat(soon(redlock.lock("other").tryAcquireAsync())).isPresent();
      assertThat(soon(redlock.operations().inspect("other")).nodes()).hasSize(3);
      assertThat(soon(redlock.operations().doctor()).nodes()).hasSize(3);

      Lease lost = redlock.lock("lost").acquire(WAIT);
      soon(operator.operations().breakLock("lost"));
      assertThat(soon(lost.whenEnded())).isEqualTo(LeaseEnd.LOST);

      assertThatThrownBy(
              () ->
                  redlock
                      .lock("interrupted", brief)
                      .withLock(
                          WAIT,
                          lease -> {
                            soon(operator.operations().breakLock("interrupted"));
                            block(); // Until it is interrupted.
                            return "done";
                          }))
          .isInstanceOf(LeaseLostException.class);
      assertThat(Thread.interrupted()).isTrue();

      Waiting.until(
          "the lease time passes", WAIT, () -> System.nanoTime() - begin > leaseTime.toNanos());
      assertThat(extended.isValid()).as("extended since they block").isTrue();
      assertThat(over.getCount()).isEqualTo(1);
      over.countDown();
    }
  }

  /** Nobody ran under the grant: others do not wait until its minimum hold is over. */
  @Test
  void grant_whoseCallerCancelsBeforeTheCallback_keepsNoMinimumHold() {
    LockOptions options = LockOptions.builder().minimumHold(Duration.ofSeconds(30)).build();
    Queue<Runnable> callbacks = new ConcurrentLinkedQueue<>();
    try (Redlock redlock = client().callbackExecutor(callbacks::add).build();
        Redlock other = client().build()) {
      List<Function<DistributedLock, CompletableFuture<?>>> ways =
          List.of(
              lock -> lock.acquireAsync(WAIT),
              lock -> lock.tryAcquireAsync(WAIT),
              lock -> lock.withLockAsync(WAIT, lease -> CompletableFuture.completedFuture(1)));
      for (Function<DistributedLock, CompletableFuture<?>> way : ways) {
        CompletableFuture<?> users = way.apply(redlock.lock("a", options));
        Waiting.until("its callback could run", WAIT, () -> !callbacks.isEmpty());
        users.cancel(false);
        callbacks.remove().run();

        other.lock("a").acquire(WAIT).close();
      }
    }
  }

  @Test
  void executor_thatRejects_callbacksRunOnThreadsOfTheClient() {
    try (Redlock redlock =
        client()
            .callbackExecutor(
                task -> {
                  throw new RejectedExecutionException("shut down");
                })
            .build()) {
      Lease held = redlock.lock("a").acquire(WAIT); // Until the callback is registered.
      CompletableFuture<String> ranOn =
          redlock
              .lock("a")
              .acquireAsync(WAIT)
              .thenApply(
                  lease -> {
                    // This callback blocks, and no thread waits for it.
                    redlock.lock("b").acquire(WAIT).close();
                    lease.close();
                    return Thread.currentThread().getName();
                  });
      held.close();
      assertThat(soon(ranOn)).startsWith("redlock-callback-");
    }
  }

  @Test
  void executor_thatThrowsAfterItRanTheCallback_runsItOnce() {
    AtomicInteger told = new AtomicInteger();
    try (Redlock redlock =
        client()
            .callbackExecutor(
                task -> {
                  task.run();
                  throw new IllegalStateException("after it ran");
                })
            .listener(
                new dev.redlock.RedlockListener() {
                  @Override
                  public void onAcquired(Lease lease, Duration waited) {
                    told.incrementAndGet();
                  }
                })
            .build()) {
      for (int i = 0; i < 10; i++) {
        soon(soon(redlock.lock("a").acquireAsync(WAIT)).releaseAsync());
      }
      Waiting.until("all are told", WAIT, () -> told.get() == 10);
    }
    assertThat(told).hasValue(10);
  }

  @Test
  void callbacks_inABurst_shareAFewThreads() {
    Queue<String> threads = new ConcurrentLinkedQueue<>();
    try (Redlock redlock = client().build()) {
      CompletableFuture<?>[] all = new CompletableFuture<?>[2000];
      for (int i = 0; i < all.length; i++) {
        all[i] =
            redlock
                .lock("name-" + i)
                .acquireAsync(WAIT)
                .thenCompose(
                    lease -> {
                      threads.add(Thread.currentThread().getName());
                      return lease.releaseAsync();
                    });
      }
      soon(CompletableFuture.allOf(all));
    }
    assertThat(threads.stream().distinct().count()).isLessThan(200);
  }
}
