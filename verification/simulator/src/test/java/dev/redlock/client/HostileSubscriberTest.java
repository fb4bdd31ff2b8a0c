package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.management.ThreadMXBean;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.operations.LockState;
import dev.redlock.operations.LockState.Status;
import dev.redlock.spi.RestartGuard;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Subscribers to the state of a lock that break the rules of a subscriber. */
class HostileSubscriberTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final InMemoryLockNode node = InMemoryLockNode.create("a");
  private final Redlock client =
      Redlock.builder()
          .nodes(node)
          .restartGuard(RestartGuard.OFF)
          .nodeTimeout(Duration.ofSeconds(1))
          .build();

  private static class Seen implements Flow.Subscriber<LockState> {
    final List<String> calls = new CopyOnWriteArrayList<>();
    volatile Flow.Subscription subscription;

    @Override
    public void onSubscribe(Flow.Subscription given) {
      calls.add("subscribed");
      subscription = given;
    }

    @Override
    public void onNext(LockState state) {
      calls.add(state.status().toString());
    }

    @Override
    public void onError(Throwable failure) {
      calls.add(failure.getMessage());
    }

    @Override
    public void onComplete() {
      calls.add("complete");
    }

    void until(int calls) {
      await().atMost(WAIT).until(() -> this.calls.size() == calls);
    }
  }

  @AfterEach
  void close() {
    client.close();
  }

  private Seen subscribed(Seen seen) {
    assertThat(client.awaitReady(WAIT)).isTrue();
    client.operations().watch("stock").subscribe(seen);
    await().atMost(WAIT).until(() -> seen.subscription != null);
    return seen;
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void request_thatIsNotPositive_isAnErrorAndTheEnd(long n) {
    Seen seen = subscribed(new Seen());
    seen.subscription.request(n);
    seen.subscription.request(n);
    seen.subscription.request(1);
    seen.until(2);
    assertThat(seen.calls).containsExactly("subscribed", "request of " + n + " must be positive");
  }

  @Test
  void request_ofTheGreatestNumberTwice_isUnbounded() {
    Seen seen = subscribed(new Seen());
    seen.subscription.request(Long.MAX_VALUE);
    seen.subscription.request(Long.MAX_VALUE);
    seen.until(2);
    Lease lease = client.lock("stock").acquire(WAIT);
    await().atMost(WAIT).until(() -> seen.calls.contains(Status.HELD.toString()));
    lease.close();
  }

  @Test
  void cancel_inOnNext_isTheLastCall() {
    Seen seen =
        subscribed(
            new Seen() {
              @Override
              public void onNext(LockState state) {
                subscription.cancel();
                subscription.request(5);
                super.onNext(state);
              }
            });
    seen.subscription.request(10);
    seen.until(2);
    client.lock("stock").acquire(WAIT).close();
    client.close();
    assertThat(seen.calls).containsExactly("subscribed", "FREE");
  }

  @Test
  void subscribe_afterTheClose_completes() {
    Flow.Publisher<LockState> publisher = client.operations().watch("stock");
    assertThatThrownBy(() -> publisher.subscribe(null)).isInstanceOf(NullPointerException.class);
    client.close();
    Seen seen = new Seen();
    publisher.subscribe(seen);
    seen.until(2);
    assertThat(seen.calls).containsExactly("subscribed", "complete");
  }

  @Test
  void subscribers_ofOnePublisher_areIndependent() {
    assertThat(client.awaitReady(WAIT)).isTrue();
    Flow.Publisher<LockState> publisher = client.operations().watch("stock");
    Seen one = new Seen();
    publisher.subscribe(one);
    publisher.subscribe(one);
    await().atMost(WAIT).until(() -> one.calls.size() == 2);
    one.subscription.request(1);
    one.until(3);
  }

  @Test
  void subscriber_thatBlocks_makesNothingPileUp() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch resume = new CountDownLatch(1);
    Seen seen =
        subscribed(
            new Seen() {
              @Override
              public void onNext(LockState state) {
                inside.countDown();
                try {
                  resume.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
                super.onNext(state);
              }
            });
    seen.subscription.request(1);
    inside.await();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    seen.subscription.request(1);
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 200_000; i++) {
      seen.subscription.request(1);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    resume.countDown();
    seen.until(2);
    try (Lease lease = client.lock("stock").acquire(WAIT)) {
      assertThat(lease.isValid()).isTrue();
      await().atMost(WAIT).until(() -> seen.calls.contains(Status.HELD.toString()));
    }
    assertThat(allocated).isLessThan(1_000_000);
  }
}
