package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireVerdict;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.RedlockException;
import dev.redlock.harness.ForkedJvm;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.it.TestTime;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import dev.redlock.testkit.TcpGate;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The time between request and reply reduces validity (hazards H2 and H18). */
@RedisTest(nodes = 5, gated = true)
class SlowAnswersIT {
  private static final Duration WAIT = Duration.ofSeconds(10);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration LEASE = Duration.ofSeconds(1);
  private static final Duration ONE_WAY = Duration.ofMillis(150);
  private static final int ROUNDS = 6;

  private final RedisNodes nodes;

  SlowAnswersIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  private boolean stored(long copies) {
    return nodes.stream().filter(node -> Clients.holdsKey(node, "asked")).count() == copies;
  }

  /**
   * H2, node-redlock, Redisson, etcd#11456: all nodes grant, the process is stopped before it reads
   * the replies, and resumes after the keys have expired.
   */
  @Tag("thorough")
  @Test
  void acquire_processStoppedWhileItsAnswersAreOnTheWay_isNotGranted() {
    int stoppedInTime = 0;
    try (ForkedJvm asker = ForkedJvm.of(Asker.class).args(String.join(",", nodes.uris())).start()) {
      asker.awaitLine("ready"::equals, PATIENCE);
      for (int round = 0; round < ROUNDS && stoppedInTime < 2; round++) {
        nodes.forEach(node -> node.gate().delay(Duration.ZERO, Duration.ofMillis(500)));
        long asked = System.nanoTime();
        asker.send("ask");
        // The key exists for the lease time at most, so a late check misses it.
        Eventually.holds(() -> stored(5) || System.nanoTime() - asked > 2 * LEASE.toNanos(), nodes);
        asker.pause();
        long paused = System.nanoTime();
        Eventually.holds(() -> stored(0), nodes);
        nodes.forEach(node -> node.gate().endFaults());
        asker.resume();
        // The client logs to the same output.
        String line = asker.awaitLine(text -> Event.parse(text).isPresent(), PATIENCE);
        Event answer = Event.parse(line).orElseThrow();
        System.out.println(answer);
        // On a busy machine the stop may come after it has read the replies; such a round proves
        // nothing.
        if (answer.atNanos() - paused > 0) {
          stoppedInTime++;
          assertThat(answer.what()).as(answer.toString()).isEqualTo("refused");
        }
      }
    }
    assertThat(stoppedInTime).as("rounds in which it was stopped in time").isEqualTo(2);
  }

  /**
   * Timers that are late, as on a busy machine. With punctual timers the node timeout refuses, and
   * the validity check is not reached.
   */
  private static final class LateTimers extends TestTime {
    private static final long LATE_NANOS = 500_000_000;

    @Override
    public Cancellable schedule(Runnable task, long delayNanos) {
      // After a pause all due timers run at once; the delay starts only then.
      return super.schedule(() -> super.schedule(task, LATE_NANOS), delayNanos);
    }
  }

  /** Makes one attempt for each line of input. */
  static final class Asker {
    private Asker() {}

    public static void main(String[] args) throws Exception {
      LockOptions options =
          LockOptions.builder()
              .leaseTime(LEASE)
              .nodeTimeout(Duration.ofMillis(950))
              .autoExtend(false)
              .build();
      Redlock redlock =
          Clients.voting(
              Redlock.builder()
                  .nodes(args[0].split(",", -1))
                  .defaults(options)
                  .restartGuard(RestartGuard.OFF)
                  .time(new LateTimers())
                  .build(),
              5);
      System.out.println("ready");
      BufferedReader orders =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (orders.readLine() != null) {
        Event answer;
        try {
          Optional<Lease> lease = redlock.lock("asked").tryAcquire();
          long now = System.nanoTime();
          answer = Event.of(now, "asker", lease.isPresent() ? "granted" : "refused");
          lease.ifPresent(Lease::close);
        } catch (RedlockException e) {
          answer =
              Event.of(
                  System.nanoTime(), "asker", "refused", "why", String.valueOf(e.getMessage()));
        }
        System.out.println(answer);
      }
    }
  }

  /** H18, redlock4j: the deadline counts from the arrival of the replies. */
  @Test
  void validity_answersAreSlow_countsFromBeforeTheQuestion() {
    LockOptions slow =
        LockOptions.builder()
            .leaseTime(Duration.ofSeconds(5))
            .nodeTimeout(Duration.ofSeconds(1))
            .autoExtend(false)
            .build();
    try (Redlock redlock = Clients.start(nodes)) {
      nodes.stream().map(node -> node.gate()).forEach(SlowAnswersIT::slowDown);
      Duration most = slow.leaseTime().minus(slow.drift()).minus(ONE_WAY.multipliedBy(2));
      try (Lease lease = redlock.lock("slow", slow).acquire(WAIT)) {
        assertThat(lease.remainingValidity()).isPositive().isLessThanOrEqualTo(most);
        lease.extendAsync().toCompletableFuture().join();
        assertThat(lease.remainingValidity()).isPositive().isLessThanOrEqualTo(most);
      }
    }
  }

  /** A suspended machine: its wall clock continues, the monotonic clock does not. */
  private static final class SleepyTime extends TestTime {
    private final AtomicLong asleepMillis = new AtomicLong();

    @Override
    public long wallMillis() {
      return super.wallMillis() + asleepMillis.get();
    }
  }

  @Test
  void tryAcquire_machineSleptAmongItsAnswers_isTooSlowAndUndoneEverywhere() {
    SleepyTime time = new SleepyTime();
    Duration late = Duration.ofMillis(600);
    LockOptions options =
        LockOptions.builder()
            .leaseTime(Duration.ofSeconds(5))
            .nodeTimeout(Duration.ofSeconds(1))
            .autoExtend(false)
            .build();
    try (Redlock redlock =
        Clients.voting(Clients.on(nodes).restartGuard(RestartGuard.OFF).time(time).build(), 5)) {
      for (int i = 2; i < 5; i++) {
        nodes.get(i).gate().delay(Duration.ZERO, late);
      }
      LockTimeoutException refused = null;
      for (int round = 0; round < ROUNDS && !tooSlow(refused); round++) {
        CompletableFuture<Optional<Lease>> asked = redlock.lock("asked", options).tryAcquireAsync();
        long sent = System.nanoTime();
        // Rolled back already if this process was delayed.
        Eventually.holds(() -> stored(5) || System.nanoTime() - sent > late.toNanos(), nodes);
        // Long after two of five nodes have replied and long before the third, unless this process
        // is delayed.
        Eventually.holds(() -> System.nanoTime() - sent > late.toNanos() / 2, nodes);
        time.asleepMillis.addAndGet(10_000);
        try {
          asked.orTimeout(10, TimeUnit.SECONDS).join().ifPresent(Lease::close);
        } catch (CompletionException e) {
          // Too few replies in time: this verdict is possible only if the machine was paused as
          // well.
          assertThat(e.getCause())
              .isInstanceOfAny(LockTimeoutException.class, QuorumUnavailableException.class);
          refused = e.getCause() instanceof LockTimeoutException tooLate ? tooLate : refused;
        }
        Eventually.holds(() -> stored(0), nodes);
      }
      assertThat(tooSlow(refused)).as(String.valueOf(refused)).isTrue();
      assertThat(refused).hasMessageContaining("too slow").hasMessageContaining("paused");
    }
  }

  private static boolean tooSlow(@Nullable LockTimeoutException refused) {
    return refused != null && refused.report().verdict() == AcquireVerdict.TOO_SLOW;
  }

  private static void slowDown(TcpGate gate) {
    gate.delay(ONE_WAY, ONE_WAY);
  }
}
