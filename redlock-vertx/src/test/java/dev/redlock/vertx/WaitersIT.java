package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LeaseEnd;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
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
  private static final int AT_ONCE = 500;

  /** Five samples of each of the two event loops. */
  private static final int ENOUGH_SAMPLES = 10;

  private static final int MAX_ROUNDS = 10;
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

  /** The fault of the bus; none here. */
  BusFault fault() {
    return BusFault.NONE;
  }

  @AfterEach
  void stop() {
    checked.close();
  }

  /** Acquires thousands of times from its event loop, and releases each lease at once. */
  private static final class Asking extends VerticleBase {
    private final VertxRedlock redlock;
    private final AtomicInteger served = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final Map<LeaseEnd, Integer> ends = new ConcurrentHashMap<>();
    private final Promise<Void> all = Promise.promise();

    Asking(VertxRedlock redlock) {
      this.redlock = redlock;
    }

    @Override
    public Future<?> start() {
      return ask(WAITERS);
    }

    /** In parts: 5,000 calls in a row would keep the event loop for 60 ms. */
    private Future<?> ask(int left) {
      for (int i = 0; i < Math.min(left, AT_ONCE); i++) {
        redlock.acquire("a", LONG).onSuccess(this::serve).onFailure(e -> refuse());
      }
      return left <= AT_ONCE
          ? Future.succeededFuture()
          : vertx.timer(1).compose(fired -> ask(left - AT_ONCE));
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

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet();
  }

  /**
   * Whether the library or Vert.x started the thread only because of the waiters. The pools with
   * these two names also start a thread after an idle time, and a thread that takes over from a
   * caller that handled events of others for a long time.
   */
  private static boolean isForWaiters(Thread thread) {
    String name = thread.getName();
    return (name.startsWith("redlock-") || name.startsWith("vert.x-"))
        && !name.startsWith("redlock-queue-")
        && !name.startsWith("redlock-callback-");
  }

  @Test
  void waiters_fiveThousandOnOneLoop_areServedWithoutAThreadOrAStall(RedisNodes nodes) {
    CheckedVertx.get(redlock.acquire("warm", LONG).compose(VertxLease::release));
    CheckedVertx.get(vertx.deployVerticle(new VerticleBase() {})); // Both loops have run.
    Set<Thread> before = threads();
    Set<Thread> added = new HashSet<>();
    AtomicInteger notices = new AtomicInteger();
    vertx.eventBus().consumer(BusFault.ADDRESS, message -> notices.incrementAndGet());
    try (LoopSampler sampler = new LoopSampler()) {
      int samples = 0;
      // If the waiters were served faster than the sampler took a sample, they prove nothing. Then
      // another round follows.
      for (int round = 0; round < MAX_ROUNDS && samples < ENOUGH_SAMPLES; round++) {
        samples += samplesWhileServed(sampler, added);
      }
      added.removeAll(before);
      System.out.printf(
          "%d waiters: threads %d before, %s added; %d notices; %d samples, %d while served%n",
          WAITERS,
          before.size(),
          added.stream().map(Thread::getName).sorted().toList(),
          notices.get(),
          sampler.samples(),
          samples);
      if (fault() == BusFault.NONE) {
        assertThat(notices.get()).as("messages; no other process waits").isZero();
      }
      assertThat(added).as("threads for waiters").noneMatch(WaitersIT::isForWaiters);
      assertThat(added).as("threads of any name").hasSizeLessThan(10);
      assertThat(sampler.stalled()).isEmpty();
      assertThat(samples).as("samples while served").isGreaterThanOrEqualTo(ENOUGH_SAMPLES);
    }
  }

  /** Serves all waiters; collects the threads that run meanwhile. */
  private int samplesWhileServed(LoopSampler sampler, Set<Thread> seen) {
    VertxLease first = CheckedVertx.get(redlock.acquire("a", LONG));
    Asking asking = new Asking(redlock);
    CheckedVertx.get(vertx.deployVerticle(asking));
    int waiting = sampler.samples();
    Awaitility.await()
        .atMost(30, TimeUnit.SECONDS)
        .pollInterval(1, TimeUnit.MILLISECONDS)
        .until(() -> sampler.samples() >= waiting + ENOUGH_SAMPLES);
    seen.addAll(threads());
    int serving = sampler.samples();
    first.release();
    while (!asking.all.future().isComplete()) {
      BusIT.parkMillis(20);
      seen.addAll(threads());
    }
    int samples = sampler.samples() - serving;
    CheckedVertx.get(asking.all.future());
    assertThat(asking.served).hasValue(WAITERS);
    Awaitility.await()
        .atMost(10, TimeUnit.SECONDS)
        .until(() -> asking.ends.values().stream().mapToInt(n -> n).sum() == WAITERS);
    // 64 leases have one grant, or fewer if its votes are too old; the last of them is released.
    assertThat(asking.ends).containsOnlyKeys(LeaseEnd.HANDED_OFF, LeaseEnd.RELEASED);
    assertThat(asking.ends.get(LeaseEnd.HANDED_OFF)).isGreaterThan(WAITERS * 9 / 10);
    return samples;
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
    assertThat(free).as("no waiter and no holder").hasSize(1);
    CheckedVertx.get(free.get(0).release());
  }
}
