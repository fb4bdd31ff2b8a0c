package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    checked = CheckedVertx.start();
    vertx = checked.vertx();
    redlock =
        checked.client(
            VertxRedlockIT.options(nodes).setQueueBound(WAITERS + 1).setMaxHandOffs(WAITERS * 2));
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

  /** Looks at event loops each 10 ms; remembers those parked or waiting below one of our frames. */
  private static final class Sampler implements AutoCloseable {
    private final Set<String> stalled = ConcurrentHashMap.newKeySet();
    private final AtomicInteger samples = new AtomicInteger();
    private final Thread thread = new Thread(this::run, "sampler");
    private volatile boolean over;

    Sampler() {
      thread.setDaemon(true);
      thread.start();
    }

    private void run() {
      while (!over) {
        for (Map.Entry<Thread, StackTraceElement[]> e : Thread.getAllStackTraces().entrySet()) {
          if (e.getKey().getName().startsWith("vert.x-eventloop")) {
            look(e.getKey(), e.getValue());
          }
        }
        BusIT.parkMillis(10);
      }
    }

    private void look(Thread loop, StackTraceElement[] stack) {
      samples.incrementAndGet();
      boolean ours = false;
      boolean parked = false;
      for (StackTraceElement frame : stack) {
        // The frame, not the thread's state: the two are not read at the same moment.
        parked |= Set.of("park", "wait0", "sleep").contains(frame.getMethodName());
        ours |= frame.getClassName().startsWith("dev.redlock");
      }
      if (ours && parked) {
        stalled.add(loop + " " + List.of(stack));
      }
    }

    @Override
    public void close() {
      over = true;
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
    try (Sampler sampler = new Sampler()) {
      CheckedVertx.get(vertx.deployVerticle(asking));
      int threadsWaiting = threads();
      long start = System.nanoTime();
      first.release();
      CheckedVertx.get(asking.all.future(), 60);
      System.out.printf(
          "%d waiters: threads %d before, %d while waiting, %d after; served in %d ms; %d samples%n",
          WAITERS,
          threadsBefore,
          threadsWaiting,
          threads(),
          (System.nanoTime() - start) / 1_000_000,
          sampler.samples.get());
      assertThat(asking.served).hasValue(WAITERS);
      assertThat(threadsWaiting).isLessThanOrEqualTo(threadsBefore);
      assertThat(sampler.stalled).isEmpty();
      assertThat(sampler.samples.get()).isPositive();
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
