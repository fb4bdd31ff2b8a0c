package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The client sends more requests than the nodes can answer within a node timeout. */
class OverloadTest {
  private static final Duration WAIT = Duration.ofMinutes(1);

  /** How long a node works on one request. This allows five thousand pairs a second. */
  private static final Duration WORK = Duration.ofNanos(100_000);

  private static final int MOST_PER_SECOND = (int) (1_000_000_000L / (2 * WORK.toNanos()));

  private static final Duration LEASE_TIME = Duration.ofSeconds(3);

  private int done;
  private int failed;
  private boolean over;

  @Tag("thorough")
  @Test
  void pairs_fourTimesAsManyAtOnceAsATimeoutHolds_areServedAsFastAsNodesCan() {
    try (VirtualNodes nodes = new VirtualNodes(3)) {
      Redlock redlock = nodes.client();
      for (int i = 0; i < 3; i++) {
        nodes.node(i).work(WORK);
      }
      for (int i = 0; i < 5000; i++) {
        again(redlock, "name-" + i);
      }
      nodes.time().pass(Duration.ofSeconds(3)); // Time in which the limiter lowers its limit.
      int before = done;
      nodes.time().pass(Duration.ofSeconds(5));
      over = true;
      assertThat(failed).as("failed, of " + done).isZero();
      assertThat((done - before) / 5).as("pairs/s").isGreaterThan(MOST_PER_SECOND * 7 / 10);
    }
  }

  @Test
  void pairs_moreThanTheFirstBoundWhileNodesAnswerAtOnce_areSoonHeldBackByNothing() {
    try (VirtualNodes nodes = new VirtualNodes(3)) {
      Redlock redlock = nodes.client();
      int callers = 600;
      for (int i = 0; i < callers; i++) {
        again(redlock, "name-" + i);
      }
      nodes.time().pass(Duration.ofMillis(10)); // Time in which the limiter adjusts its limit.
      int before = done;
      nodes.time().pass(VirtualNodes.ROUND_TRIP.multipliedBy(50));
      over = true;
      assertThat(failed).isZero();
      assertThat(done - before).as("of a pair each two round trips").isGreaterThan(callers * 22);
    }
  }

  /**
   * Leases of 3 s on nodes of 500 requests per second. Of more than these can extend in a lease
   * time, four fifths of that number are kept. Meanwhile a lock that is free is acquired at once.
   */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = {50, 75, 90, 100, 110, 125, 150, 200, 300, 400})
  void leases_ofAnyNumber_areKeptAsFarAsTheNodesCanExtendThem(int percent) {
    Duration work = Duration.ofMillis(2);
    int most = (int) (LEASE_TIME.toNanos() / work.toNanos());
    int count = most * percent / 100;
    try (VirtualNodes nodes = new VirtualNodes(3)) {
      Redlock redlock = nodes.client();
      LockOptions options = LockOptions.builder().leaseTime(LEASE_TIME).build();
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < count; i++) { // So that they are not all due at once.
        var unused = redlock.lock("name-" + i, options).acquireAsync(WAIT).thenAccept(leases::add);
        nodes.time().pass(LEASE_TIME.dividedBy(3L * count));
      }
      nodes.time().pass(VirtualNodes.ROUND_TRIP);
      assertThat(leases.size()).isEqualTo(count);
      for (int i = 0; i < 3; i++) {
        nodes.node(i).work(work);
      }
      for (int i = 0; i < 36; i++) {
        var acquired = redlock.lock("free-" + i, options).acquireAsync(WAIT);
        nodes.time().pass(options.nodeTimeout().multipliedBy(3));
        assertThat(acquired).as("in three node timeouts, with %s %%", percent).isCompleted();
        acquired.thenAccept(Lease::releaseAsync);
      }
      int kept = (int) leases.stream().filter(Lease::isValid).count();
      assertThat(kept)
          .as("kept of %s, %s %% of what the nodes can extend", count, percent)
          .isGreaterThanOrEqualTo(Math.min(count, most * 4 / 5));
      leases.forEach(Lease::releaseAsync);
    }
  }

  private void again(Redlock redlock, String name) {
    redlock
        .lock(name)
        .acquireAsync(WAIT)
        .thenCompose(Lease::releaseAsync)
        .whenComplete(
            (ok, error) -> {
              done += error == null ? 1 : 0;
              failed += error == null ? 0 : 1;
              if (!over) {
                again(redlock, name);
              }
            });
  }
}
