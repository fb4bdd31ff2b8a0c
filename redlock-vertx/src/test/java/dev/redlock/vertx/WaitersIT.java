package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LeaseEnd;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Thousands of waiters on one event loop. */
@RedisTest(nodes = 3)
class WaitersIT {
  private static final int WAITERS = 5_000;
  private static final Duration LONG = Duration.ofSeconds(60);

  private CheckedVertx checked;
  private Vertx vertx;
  private VertxRedlock redlock;

  @BeforeEach
  void start(RedisNodes nodes) {
    checked = CheckedVertx.start(fault());
    vertx = checked.vertx();
    redlock =
        checked.client(
            VertxRedlockIT.options(nodes)
                .setNodeTimeoutMillis(1_000)
                .setQueueBound(WAITERS + 1)
                .setMaxHandOffs(WAITERS * 2));
  }

  /** What is wrong with the bus; here nothing. */
  BusFault fault() {
    return BusFault.NONE;
  }

  @AfterEach
  void stop() {
    checked.close();
  }

  /** Asks thousands of times from its event loop, and releases at once what it gets. */
  private static final class Asking extends TestVerticle {
    private final VertxRedlock redlock;
    private final AtomicInteger served = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final Map<LeaseEnd, Integer> ends = new ConcurrentHashMap<>();
    private final Promise<Void> all = Promise.promise();

    Asking(VertxRedlock redlock) {
      this.redlock = redlock;
    }

    @Override
    Future<?> begin() {
      for (int i = 0; i < WAITERS; i++) {
        redlock.acquire("a", LONG).onSuccess(this::serve).onFailure(e -> refuse());
      }
      return Future.succeededFuture();
    }

    private void serve(VertxLease lease) {
      lease.whenEnded().onSuccess(end -> ends.merge(end, 1, Integer::sum));
      lease.release();
      served.incrementAndGet();
      count();
    }

    private void refuse() {
      refused.incrementAndGet();
      count();
    }

    private void count() {
      if (served.get() + refused.get() == WAITERS) {
        all.complete();
      }
    }
  }

  private static int threads() {
    return (int)
        Thread.getAllStackTraces().keySet().stream()
            .filter(t -> !t.getName().equals("sampler"))
            .count();
  }

  @Test
  void waiters_fiveThousandOnOneLoop_areServedWithoutAThreadOrAStall(RedisNodes nodes) {
    VertxLease first = CheckedVertx.get(redlock.acquire("a", LONG));
    CheckedVertx.get(redlock.acquire("warm", LONG).compose(VertxLease::release));
    CheckedVertx.get(vertx.deployVerticle(new TestVerticle() {})); // Both loops have run.
    int threadsBefore = threads();
    Asking asking = new Asking(redlock);
    AtomicInteger notices = new AtomicInteger();
    vertx.eventBus().consumer(BusFault.ADDRESS, message -> notices.incrementAndGet());
    try (LoopSampler sampler = new LoopSampler()) {
      CheckedVertx.get(vertx.deployVerticle(asking));
      int threadsWaiting = threads();
      long start = System.nanoTime();
      first.release();
      int threadsServing = 0;
      while (!asking.all.future().isComplete()) {
        BusIT.parkMillis(20);
        threadsServing = Math.max(threadsServing, threads());
      }
      CheckedVertx.get(asking.all.future(), 60);
      long millis = (System.nanoTime() - start) / 1_000_000;
      System.out.printf(
          "%d waiters: threads %d before, %d while waiting, %d while served; served in %d ms,"
              + " %d notices; %d samples%n",
          WAITERS,
          threadsBefore,
          threadsWaiting,
          threadsServing,
          millis,
          notices.get(),
          sampler.samples());
      assertThat(asking.served).hasValue(WAITERS);
      Awaitility.await()
          .atMost(10, TimeUnit.SECONDS)
          .until(() -> asking.ends.values().stream().mapToInt(n -> n).sum() == WAITERS);
      // One to the next, in this process; but for the last, which nobody waits behind.
      assertThat(asking.ends)
          .containsOnly(
              Map.entry(LeaseEnd.HANDED_OFF, WAITERS - 1), Map.entry(LeaseEnd.RELEASED, 1));
      if (fault() == BusFault.NONE) {
        // At most one of a name in 5 ms, however fast it changes hands, and the wait above.
        assertThat(notices.get()).isPositive().isLessThan((int) millis / 5 + 50);
      }
      assertThat(threadsWaiting).isLessThanOrEqualTo(threadsBefore);
      assertThat(threadsServing).isLessThanOrEqualTo(threadsBefore);
      assertThat(sampler.stalled()).isEmpty();
      assertThat(sampler.samples()).isGreaterThanOrEqualTo(50);
    }
  }

  @Test
  void undeploy_inTheMiddleOfFiveThousand_leavesNoKeyAndNoWaiter(RedisNodes nodes) {
    VertxLease first = CheckedVertx.get(redlock.acquire("a", LONG));
    Asking asking = new Asking(redlock);
    String id = CheckedVertx.get(vertx.deployVerticle(asking));
    first.release();
    Awaitility.await()
        .atMost(30, TimeUnit.SECONDS)
        .pollInterval(1, TimeUnit.MILLISECONDS)
        .until(() -> asking.served.get() > 200);
    CheckedVertx.get(vertx.undeploy(id));
    CheckedVertx.get(asking.all.future(), 30);
    assertThat(asking.refused.get()).isPositive();
    Awaitility.await()
        .atMost(10, TimeUnit.SECONDS)
        .until(() -> nodes.stream().noneMatch(n -> n.key("redlock:{a}").isPresent()));
    List<VertxLease> free = new ArrayList<>();
    CheckedVertx.get(redlock.tryAcquire("a")).ifPresent(free::add);
    assertThat(free).as("nobody waits or holds").hasSize(1);
    CheckedVertx.get(free.get(0).release());
  }
}
