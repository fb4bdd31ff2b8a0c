package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The client sends more requests than the nodes can answer within a node timeout. */
class OverloadTest {
  private static final Duration WAIT = Duration.ofMinutes(1);

  /** How long a node works on one request. This allows five thousand pairs a second. */
  private static final Duration WORK = Duration.ofNanos(100_000);

  private static final int MOST_PER_SECOND = (int) (1_000_000_000L / (2 * WORK.toNanos()));

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
      for (int i = 0; i < 2000; i++) {
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
