package dev.redlock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.AcquireVerdict;
import dev.redlock.RedlockListener.Caller;
import dev.redlock.RedlockListener.HandOff;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.NodeRecord;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The number of time series is bounded, whatever the names of the locks. */
class RedlockMetricsTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  private static void calls(RedlockMetrics metrics, int names) {
    for (int i = 0; i < names; i++) {
      Caller caller = new Caller(List.of("order-" + i), true, false);
      metrics.onWaiterJoined(caller);
      metrics.onWaiterLeft(caller, AcquireVerdict.ACQUIRED, Duration.ofMillis(2), null);
      metrics.onHandOff(caller.names(), HandOff.LOCAL);
    }
  }

  @Test
  void tenThousandNames_withoutALockTag_addNoSeries() {
    RedlockMetrics metrics = RedlockMetrics.create();
    metrics.bindTo(registry);
    long before = Meters.series(registry);
    calls(metrics, 10_000);
    assertThat(Meters.series(registry)).isEqualTo(before).isLessThan(60);
    assertThat(Meters.timer(registry, "redlock.acquire", "outcome", "acquired")).isEqualTo(10_000);
  }

  @Test
  void tenThousandNames_eachItsOwnTag_areCutToTheLimit() {
    RedlockMetrics metrics = RedlockMetrics.builder().lockTag(names -> names.get(0)).build();
    metrics.bindTo(registry);
    calls(metrics, 10_000);
    long tags =
        registry.find("redlock.wait").timers().stream()
            .map(timer -> timer.getId().getTag("lock"))
            .distinct()
            .count();
    assertThat(tags).isEqualTo(RedlockMetrics.MAX_LOCK_TAGS + 1);
    assertThat(Meters.timer(registry, "redlock.wait", "lock", "other"))
        .isEqualTo(10_000 - RedlockMetrics.MAX_LOCK_TAGS);
    assertThat(Meters.timer(registry, "redlock.wait")).isEqualTo(10_000);
  }

  @Test
  void lockTag_thatThrowsOrReturnsNull_isOther() {
    RedlockMetrics metrics =
        RedlockMetrics.builder()
            .lockTag(
                names -> {
                  if (names.get(0).equals("order-0")) {
                    throw new IllegalStateException("on purpose");
                  }
                  return null;
                })
            .build();
    metrics.bindTo(registry);
    calls(metrics, 2);
    assertThat(Meters.counter(registry, "redlock.handoff", "lock", "other")).isEqualTo(2);
  }

  @Test
  void lockTag_thatThrowsAnError_isOther() {
    RedlockMetrics metrics =
        RedlockMetrics.builder()
            .lockTag(
                names -> {
                  throw new NoClassDefFoundError("on purpose");
                })
            .build();
    metrics.bindTo(registry);
    calls(metrics, 2);
    assertThat(Meters.counter(registry, "redlock.handoff", "lock", "other")).isEqualTo(2);
  }

  @Test
  void registry_boundTwice_countsOnce() {
    RedlockMetrics metrics = RedlockMetrics.create();
    metrics.bindTo(registry);
    metrics.bindTo(registry);
    calls(metrics, 3);
    assertThat(Meters.timer(registry, "redlock.wait")).isEqualTo(3);
    assertThat(Meters.counter(registry, "redlock.handoff")).isEqualTo(3);
  }

  @Test
  void registry_thatThrows_takesNothingFromAnother() {
    AtomicBoolean broken = new AtomicBoolean();
    SimpleMeterRegistry hostile = new SimpleMeterRegistry();
    hostile
        .config()
        .meterFilter(
            new MeterFilter() {
              @Override
              public MeterFilterReply accept(Meter.Id id) {
                if (broken.get()) {
                  throw new IllegalStateException("on purpose");
                }
                return MeterFilterReply.NEUTRAL;
              }
            });
    RedlockMetrics metrics =
        RedlockMetrics.builder().lockTag(names -> names.get(0).substring(0, 5)).build();
    metrics.bindTo(hostile);
    metrics.bindTo(registry);
    broken.set(true);
    Caller caller = new Caller(List.of("order-1"), true, false);
    swallow(
        () -> metrics.onWaiterLeft(caller, AcquireVerdict.ACQUIRED, Duration.ofMillis(2), null));
    swallow(() -> metrics.onHandOff(caller.names(), HandOff.LOCAL));
    swallow(() -> metrics.onPendingReleases("n", 3));
    swallow(
        () ->
            metrics.onNode(new NodeState("n", NodeState.State.VOTING, Duration.ZERO, "", 0, null)));
    assertThat(Meters.timer(registry, "redlock.wait", "lock", "order")).isEqualTo(1);
    assertThat(Meters.counter(registry, "redlock.handoff", "lock", "order")).isEqualTo(1);
    assertThat(Meters.gauge(registry, "redlock.releases.pending", "node", "n")).isEqualTo(3);
    assertThat(Meters.gauge(registry, "redlock.node.state", "node", "n", "state", "voting"))
        .isEqualTo(1);
  }

  @Test
  void node_whoseDeploymentWasFoundedAnew_showsTheNewIdentityOnly() {
    RedlockMetrics metrics = RedlockMetrics.create();
    metrics.bindTo(registry);
    for (String id : List.of("d1", "d2")) {
      NodeRecord record = NodeRecord.first(id, List.of("n"), 5_000).of("n");
      metrics.onNode(new NodeState("n", NodeState.State.VOTING, Duration.ZERO, "", 0, record));
    }
    MeterRegistry later = new SimpleMeterRegistry();
    metrics.bindTo(later);
    for (MeterRegistry each : List.of(registry, later)) {
      assertThat(Meters.gauge(each, "redlock.node.deployment", "node", "n", "deployment", "d1"))
          .isZero();
      assertThat(Meters.gauge(each, "redlock.node.deployment", "node", "n", "deployment", "d2"))
          .isEqualTo(1);
    }
  }

  @Test
  void registry_thatRefusesTheBinding_isNotBound() {
    SimpleMeterRegistry hostile = new SimpleMeterRegistry();
    hostile
        .config()
        .meterFilter(
            new MeterFilter() {
              @Override
              public MeterFilterReply accept(Meter.Id id) {
                throw new IllegalStateException("on purpose");
              }
            });
    RedlockMetrics metrics = RedlockMetrics.create();
    assertThatThrownBy(() -> metrics.bindTo(hostile)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> metrics.bindTo(null)).isInstanceOf(NullPointerException.class);
    metrics.bindTo(registry);
    metrics.onPendingReleases("n", 3); // Throws if the other one is still there.
    assertThat(Meters.gauge(registry, "redlock.releases.pending", "node", "n")).isEqualTo(3);
  }

  private static void swallow(Runnable event) {
    try {
      event.run();
    } catch (IllegalStateException e) {
      assertThat(e).hasMessage("on purpose"); // The client logs what a listener throws.
    }
  }

  @Test
  void registry_thatDeniesAllMeters_harmsNothing() {
    registry.config().meterFilter(MeterFilter.deny());
    RedlockMetrics metrics = RedlockMetrics.create();
    metrics.bindTo(registry);
    calls(metrics, 3);
    assertThat(registry.getMeters()).isEmpty();
  }

  @Test
  void twoClients_inOneRegistry_areToldApartByTags() {
    for (String client : List.of("one", "two")) {
      RedlockMetrics metrics = RedlockMetrics.builder().tags(Tags.of("client", client)).build();
      metrics.bindTo(registry);
      calls(metrics, client.equals("one") ? 1 : 2);
    }
    assertThat(Meters.timer(registry, "redlock.wait", "client", "one")).isEqualTo(1);
    assertThat(Meters.timer(registry, "redlock.wait", "client", "two")).isEqualTo(2);
  }

  @Test
  void registry_boundLater_hasTheGaugesOfNow() {
    RedlockMetrics metrics = RedlockMetrics.create();
    metrics.onWaiterJoined(new Caller(List.of("a"), true, false));
    metrics.onPendingReleases("n", 3);
    metrics.bindTo(registry);
    assertThat(Meters.gauge(registry, "redlock.waiters")).isEqualTo(1);
    assertThat(Meters.gauge(registry, "redlock.releases.pending", "node", "n")).isEqualTo(3);
  }
}
