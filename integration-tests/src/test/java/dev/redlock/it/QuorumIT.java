package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.AcquireVerdict;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Quorums on five real masters. */
@RedisTest(nodes = 5)
class QuorumIT {
  private final RedisNodes nodes;
  private Redlock redlock;

  QuorumIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @BeforeEach
  void connect() {
    redlock = Clients.start(nodes);
  }

  @AfterEach
  void disconnect() {
    redlock.close();
  }

  @Test
  void acquire_allHealthy_storesOnAllNodesWithTtlAndReleasesAll() {
    DistributedLock lock = redlock.lock("orders:1");
    try (Lease lease = lock.acquire(Duration.ofSeconds(2))) {
      assertThat(lease.isValid()).isTrue();
      assertThat(lease.remainingValidity())
          .isLessThanOrEqualTo(Duration.ofSeconds(30).minusMillis(302));
      for (RedisNode node : nodes) {
        Eventually.holds(
            () -> {
              Optional<RedisKey> key = node.key(Clients.lockKey("orders:1"));
              return key.isPresent() && key.get().ttl().isPresent();
            },
            nodes);
      }
      assertThat(redlock.lock("orders:1").tryAcquire()).isEmpty();
    }
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, "orders:1"), nodes);
    }
  }

  @Test
  void acquire_twoOfFiveKilled_locksContinue() {
    nodes.get(1).kill();
    nodes.get(3).kill();
    for (int i = 0; i < 200; i++) {
      try (Lease lease = redlock.lock("killed").acquire(Duration.ofSeconds(2))) {
        assertThat(lease.isValid()).isTrue();
      }
    }
  }

  @Test
  void start_twoOfFiveDown_locksAndTheyJoinLater() {
    redlock.close();
    nodes.get(0).kill();
    nodes.get(4).kill();
    redlock = Clients.voting(Clients.on(nodes).build(), 3);
    try (Lease lease = redlock.lock("early").acquire(Duration.ofSeconds(2))) {
      assertThat(lease.isValid()).isTrue();
      nodes.get(0).restart();
      nodes.get(4).restart();
      Clients.voting(redlock, 5);
      // A lease on exactly a quorum is one lost key away from a second owner.
      for (RedisNode node : nodes) {
        Eventually.holds(() -> Clients.holdsKey(node, "early"), nodes);
      }
    }
  }

  @Tag("thorough")
  @Test
  void acquire_twoOfFivePaused_doesNotNotice() {
    DistributedLock lock = redlock.lock("paused");
    p99Millis("5 of 5 run", lock, 2000);
    nodes.get(0).pause();
    nodes.get(2).pause();
    p99Millis("2 of 5 just paused", lock, 200);
    double best = Double.MAX_VALUE;
    for (int run = 0; run < 3; run++) {
      best = Math.min(best, p99Millis("2 of 5 paused", lock, 2000));
    }
    assertThat(best).as("p99 in ms, best of three runs").isLessThan(20);
    // If the client closed while the masters hang, their keys would only expire.
    nodes.get(0).resume();
    nodes.get(2).resume();
    Eventually.holds(() -> Clients.owesNothing(redlock), Duration.ofSeconds(20), nodes);
  }

  private static double p99Millis(String what, DistributedLock lock, int times) {
    Histogram micros = new Histogram(3);
    for (int i = 0; i < times; i++) {
      long start = System.nanoTime();
      lock.acquire(Duration.ofSeconds(2)).close();
      micros.recordValue((System.nanoTime() - start) / 1000);
    }
    System.out.printf(
        "%s: acquire + release p50 %.3f ms, p99 %.3f ms, max %.1f ms%n",
        what,
        micros.getValueAtPercentile(50) / 1000.0,
        micros.getValueAtPercentile(99) / 1000.0,
        micros.getMaxValue() / 1000.0);
    return micros.getValueAtPercentile(99) / 1000.0;
  }

  @Test
  void acquire_threeOfFivePaused_refusedInTimeWithReportThatNamesThem() {
    for (int i : new int[] {0, 2, 4}) {
      nodes.get(i).pause();
    }
    LockOptions options = LockOptions.builder().nodeTimeout(Duration.ofMillis(300)).build();
    DistributedLock lock = redlock.lock("minority", options);
    assertThatThrownBy(lock::tryAcquire).isInstanceOf(QuorumUnavailableException.class);
    Duration best = Duration.ofDays(1);
    AcquireReport report = null;
    for (int run = 0; run < 3; run++) {
      long start = System.nanoTime();
      report =
          catchThrowableOfType(QuorumUnavailableException.class, () -> lock.acquire(Duration.ZERO))
              .report();
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      best = took.compareTo(best) < 0 ? took : best;
    }
    System.out.println("3 of 5 paused: refused after " + best.toMillis() + " ms: " + report);
    assertThat(best).as("best of three").isLessThan(options.nodeTimeout().plusMillis(50));
    assertThat(report.verdict()).isEqualTo(AcquireVerdict.UNAVAILABLE);
    for (int i = 0; i < 5; i++) {
      AcquireReport.NodeVote vote = report.votes().get(i);
      assertThat(vote.vote()).isEqualTo(i % 2 == 0 ? Vote.SILENT : Vote.GRANTED);
      if (i % 2 == 0) {
        assertThat(report.sentence()).contains(vote.node());
      }
    }
    for (int i : new int[] {0, 2, 4}) {
      nodes.get(i).resume();
    }
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, "minority"), nodes);
    }
  }

  @Test
  void acquire_everySubsetPreoccupied_grantedExactlyWhenAtMostTwoAre() {
    String key = Clients.lockKey("subset");
    // Every free node counts here, also one that replies late on a busy machine.
    LockOptions patient = LockOptions.builder().nodeTimeout(Duration.ofSeconds(1)).build();
    List<String> wrong = new ArrayList<>();
    for (int subset = 0; subset < 32; subset++) {
      Object[] expiry = new Object[5];
      for (int i = 0; i < 5; i++) {
        if ((subset & 1 << i) != 0) {
          nodes.get(i).command("SET", key, "another", "PX", "20000");
          expiry[i] = nodes.get(i).command("PEXPIRETIME", key); // Redis 7.0, as the embedded one.
        }
      }
      Optional<Lease> lease = redlock.lock("subset", patient).tryAcquire();
      boolean expected = Integer.bitCount(subset) <= 2;
      if (lease.isPresent() != expected) {
        wrong.add(Integer.toBinaryString(subset) + " " + lease);
      }
      lease.ifPresent(Lease::close);
      for (int i = 0; i < 5; i++) {
        RedisNode node = nodes.get(i);
        if ((subset & 1 << i) != 0) {
          assertThat(node.command("GET", key)).isEqualTo("another");
          assertThat(node.command("PEXPIRETIME", key)).isEqualTo(expiry[i]);
          node.command("DEL", key);
        } else {
          Eventually.holds(() -> node.key(key).isEmpty(), nodes);
        }
      }
    }
    assertThat(wrong).isEmpty();
  }
}
