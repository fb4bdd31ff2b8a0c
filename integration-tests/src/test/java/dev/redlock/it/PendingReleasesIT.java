package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Pending releases are counted per node, and only while they are pending. */
@RedisTest(nodes = 3)
class PendingReleasesIT extends OneClient {
  private static final int LOCKS = 50;

  PendingReleasesIT(RedisNodes nodes) {
    super(nodes, Clients::start);
  }

  private int owedBy(int node) {
    return redlock.operations().nodes().get(node).pendingReleases();
  }

  /** One attempt each, also on a slow machine: a second attempt would add a pending release. */
  private static LockOptions patient(Duration leaseTime) {
    return LockOptions.builder().leaseTime(leaseTime).nodeTimeout(Duration.ofSeconds(1)).build();
  }

  private void lockAndRelease(LockOptions options) {
    for (int i = 0; i < LOCKS; i++) {
      try (Lease lease = redlock.lock("pending:" + i, options).acquire(Duration.ofSeconds(2))) {
        assertThat(lease.isValid()).isTrue();
      }
    }
  }

  @Test
  void nodeThatHangs_hasEachReleasePending_untilItRuns() throws Exception {
    nodes.get(2).pause();
    lockAndRelease(patient(Duration.ofSeconds(30)));

    assertThat(owedBy(2)).isEqualTo(LOCKS);
    Eventually.holds(() -> owedBy(0) == 0 && owedBy(1) == 0, nodes);
    assertThat(
            redlock.operations().doctor().toCompletableFuture().get(5, TimeUnit.SECONDS).toString())
        .contains(LOCKS + " releases pending");

    nodes.get(2).resume();
    Eventually.holds(() -> owedBy(2) == 0, nodes);
    assertThat(nodes.get(2).keys()).noneMatch(key -> key.name().endsWith("}"));
  }

  @Test
  void nodeThatWasKilledInBetween_hasPendingReleasesUntilItIsBack() {
    nodes.get(1).pause();
    lockAndRelease(patient(Duration.ofSeconds(30)));
    nodes.get(1).kill();
    assertThat(owedBy(1)).isEqualTo(LOCKS);

    nodes.get(1).restart();
    Eventually.holds(() -> owedBy(1) == 0, nodes);
  }

  @Tag("thorough")
  @Test
  void nodeThatStaysDown_hasPendingReleasesUntilItsKeysExpire() {
    nodes.get(0).pause();
    lockAndRelease(patient(Duration.ofSeconds(3)));
    nodes.get(0).kill();
    assertThat(owedBy(0)).isPositive();

    Eventually.holds(() -> owedBy(0) == 0, Duration.ofSeconds(15), nodes);
    assertThat(nodes.get(0).state()).hasToString("DEAD");
  }
}
