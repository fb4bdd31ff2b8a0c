package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.RedlockListener;
import dev.redlock.spi.Time;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Events of a listener wait in order, up to a limit. */
class ListenerQueueTest {
  private final List<String> told = new ArrayList<>();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final FailureLog failures = new FailureLog(LoggerFactory.getLogger("test"));

  private final Clock time = new Clock();

  /** Time stands still unless the test lets it pass. Timers run when the test runs them. */
  private static final class Clock implements Time {
    final Queue<Runnable> timers = new ArrayDeque<>();
    private long nanos = Long.MAX_VALUE - 5_000_000; // It may overflow.

    void pass(long duration) {
      nanos += duration;
    }

    @Override
    public long nanos() {
      return nanos;
    }

    @Override
    public long wallMillis() {
      return 0;
    }

    @Override
    public Cancellable schedule(Runnable task, long delayNanos) {
      timers.add(task);
      return () -> timers.remove(task);
    }
  }

  private final RedlockListener listener =
      new RedlockListener() {
        @Override
        public void onPendingReleases(String node, int pending) {
          told.add(node);
        }

        @Override
        public void onDropped(long events) {
          told.add("dropped " + events);
        }
      };

  private static void add(ListenerQueue queue, String event) {
    queue.add(l -> l.onPendingReleases(event, 0));
  }

  @Test
  void listener_thatIsTooSlow_isToldHowManyEventsItMissed() {
    ListenerQueue queue = new ListenerQueue(listener, tasks::add, time, failures, 3);
    for (int i = 0; i < 10; i++) {
      add(queue, "e" + i);
    }
    assertThat(tasks).hasSize(1);
    tasks.remove().run();
    time.pass(ListenerQueue.PAUSE_NANOS);
    add(queue, "later");
    tasks.remove().run();
    assertThat(told).containsExactly("e0", "dropped 7", "e1", "e2", "later");
  }

  @Test
  void event_thatThrowsAnError_doesNotEndTheQueue() {
    ListenerQueue queue = new ListenerQueue(listener, Runnable::run, time, failures, 3);
    queue.add(
        l -> {
          throw new StackOverflowError("on purpose");
        });
    time.pass(ListenerQueue.PAUSE_NANOS);
    add(queue, "next");
    assertThat(told).containsExactly("next");
  }

  @Test
  void events_thatFollowOneAnother_areDeliveredTogether_afterAPause() {
    ListenerQueue queue = new ListenerQueue(listener, Runnable::run, time, failures, 10);
    add(queue, "first");
    assertThat(told).as("at once").containsExactly("first");
    add(queue, "second");
    time.pass(ListenerQueue.PAUSE_NANOS / 2);
    add(queue, "third");
    assertThat(told).containsExactly("first");
    assertThat(time.timers).as("one wake-up for both").hasSize(1);
    time.pass(ListenerQueue.PAUSE_NANOS / 2);
    time.timers.remove().run();
    assertThat(told).containsExactly("first", "second", "third");
  }

  @Test
  void events_atTheCloseAndLater_doNotNeedATimer() {
    ListenerQueue queue = new ListenerQueue(listener, Runnable::run, time, failures, 10);
    add(queue, "first");
    add(queue, "second");
    queue.close();
    assertThat(told).containsExactly("first", "second");
    add(queue, "third");
    assertThat(told).containsExactly("first", "second", "third");
    time.timers.remove().run();
    assertThat(told).as("a timer that runs all the same").hasSize(3);
  }

  @Test
  void event_thatAddsEvents_runsThemAfterItself() {
    ListenerQueue queue = new ListenerQueue(listener, Runnable::run, time, failures, 10);
    queue.add(
        l -> {
          add(queue, "inner");
          told.add("outer");
        });
    assertThat(told).containsExactly("outer", "inner");
  }

  @Test
  void events_ofManyThreads_areAllDeliveredOneAfterAnother() throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    AtomicInteger inside = new AtomicInteger();
    CountDownLatch delivered = new CountDownLatch(4_000);
    List<String> overlaps = new ArrayList<>();
    ListenerQueue queue = new ListenerQueue(listener, threads, new SystemTime(), failures, 10_000);
    for (int t = 0; t < 4; t++) {
      threads.execute(
          () -> {
            for (int i = 0; i < 1_000; i++) {
              queue.add(
                  l -> {
                    if (inside.incrementAndGet() != 1) {
                      overlaps.add("two at once");
                    }
                    inside.decrementAndGet();
                    delivered.countDown();
                  });
            }
          });
    }
    assertThat(delivered.await(30, TimeUnit.SECONDS)).isTrue();
    threads.shutdown();
    assertThat(overlaps).isEmpty();
  }
}
