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
import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Quorums on five real masters. */
@RedisTest(nodes = 5)
class QuorumIT extends OneClient {

  QuorumIT(RedisNodes nodes) {
    super(nodes, Clients::start);
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
    Clients.gone(nodes, "orders:1");
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
      Clients.everywhere(nodes, "early");
    }
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
    Clients.gone(nodes, "minority");
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
