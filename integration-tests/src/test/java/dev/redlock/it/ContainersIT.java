package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisSource;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Killed, paused and restarted masters that run in containers. */
@OnContainers
@RedisTest(nodes = 3, source = RedisSource.DOCKER)
class ContainersIT {
  private static final Duration WAIT = Duration.ofSeconds(10);

  private final RedisNodes nodes;
  private Redlock redlock;

  ContainersIT(RedisNodes nodes) {
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
  void oneKilled_locksContinue_andItIsUsedAgainWhenItIsBack() {
    nodes.get(1).kill();
    for (int i = 0; i < 20; i++) {
      redlock.lock("killed").acquire(WAIT).close();
    }
    try (Lease lease = redlock.lock("held").acquire(WAIT)) {
      nodes.get(1).restart();
      Clients.voting(redlock, 3);
      // A lease on exactly a quorum is one lost key away from a second owner.
      for (RedisNode node : nodes) {
        Eventually.holds(() -> Clients.holdsKey(node, "held"), nodes);
      }
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void onePaused_isNotNoticed_andItsPendingReleasesAreSentWhenItRuns() {
    nodes.get(2).pause();
    for (int i = 0; i < 20; i++) {
      redlock.lock("paused-" + i).acquire(WAIT).close();
    }
    assertThat(redlock.operations().nodes().get(2).pendingReleases()).isPositive();
    nodes.get(2).resume();
    Eventually.holds(() -> redlock.operations().nodes().get(2).pendingReleases() == 0, nodes);
    Eventually.holds(
        () -> nodes.get(2).keys().stream().noneMatch(key -> key.name().endsWith("}")), nodes);
  }

  @Test
  void twoPaused_isRefused_andLeavesNothing() {
    nodes.get(0).pause();
    nodes.get(1).pause();
    assertThatThrownBy(() -> redlock.lock("minority").acquire(Duration.ZERO))
        .isInstanceOf(QuorumUnavailableException.class);
    nodes.get(0).resume();
    nodes.get(1).resume();
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, "minority"), nodes);
    }
  }

  @Tag("thorough")
  @Test
  void allRestartedEmpty_oneAfterAnother_theLeaseHolds_andNoOtherClientIsGranted()
      throws Exception {
    LockOptions options = LockOptions.builder().leaseTime(Duration.ofSeconds(10)).build();
    try (Redlock contender = Clients.start(nodes)) {
      Lease lease = redlock.lock("rolling", options).acquire(WAIT);
      CompletableFuture<Lease> other =
          contender.lock("rolling", options).acquireAsync(Duration.ofSeconds(60));
      for (RedisNode node : nodes) {
        node.restart();
        Eventually.holds(() -> Clients.holdsKey(node, "rolling"), WAIT, nodes);
        assertThat(lease.isValid()).as(nodes.describe()).isTrue();
        assertThat(other).isNotDone();
      }
      lease.close();
      assertThat(lease.whenEnded().toCompletableFuture().get(5, TimeUnit.SECONDS))
          .isEqualTo(LeaseEnd.RELEASED);
      try (Lease next = other.get(20, TimeUnit.SECONDS)) {
        assertThat(next.fencingToken().value()).isGreaterThan(lease.fencingToken().value());
      }
    }
  }
}
