package dev.redlock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The meters of a contended run on real masters, of which one is killed, equal its own counts. */
class MetricsIT {
  private static final int THREADS = 6;
  private static final int TIMES = 120;

  @Test
  void meters_ofAContendedRunWithAKilledMaster_equalTheCountsOfTheRun() throws Exception {
    RunCounts counts = new RunCounts();
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    try (RedisNodes nodes = RedisNodes.start(3)) {
      RedlockMetrics metrics = RedlockMetrics.create();
      metrics.bindTo(registry);
      Redlock client =
          Redlock.builder()
              .nodes(nodes.uris().toArray(String[]::new))
              .restartGuard(RestartGuard.OFF)
              .nodeTimeout(Duration.ofSeconds(1))
              .listener(metrics)
              .build();
      assertThat(client.awaitReady(Duration.ofSeconds(20))).isTrue();
      run(client, counts, nodes);
      await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(
              () -> {
                assertThat(registry.scrape())
                    .contains(
                        "redlock_node_state{node=\"" + dead(nodes) + "\",state=\"voting\"} 0.0");
                assertThat(Meters.timer(registry, "redlock.hold")).isEqualTo(counts.leases());
              });
      client.close();
    }
    counts.assertMetered(
        (outcome, mode) ->
            Meters.timer(registry, "redlock.acquire", "outcome", outcome, "mode", mode));
    assertThat(Meters.timer(registry, "redlock.acquire")).isEqualTo((long) THREADS * TIMES);
    assertThat(Meters.timer(registry, "redlock.hold")).isEqualTo(counts.leases());
    assertThat(Meters.counter(registry, "redlock.handoff", "kind", "local"))
        .isEqualTo((double) counts.ended(LeaseEnd.HANDED_OFF));
    assertThat(Meters.gauge(registry, "redlock.waiters")).isZero();
    assertThat(Meters.gauge(registry, "redlock.leases.held")).isZero();
    assertThat(Meters.counter(registry, "redlock.events.dropped")).isZero();
    System.out.printf(
        "run: %d calls, %d leases, %d handed off%n",
        THREADS * TIMES, counts.leases(), counts.ended(LeaseEnd.HANDED_OFF));
  }

  private static String dead(RedisNodes nodes) {
    String uri = nodes.get(2).uri();
    return uri.substring(uri.lastIndexOf('/') + 1);
  }

  private static void run(Redlock client, RunCounts counts, RedisNodes nodes) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    LockOptions options = client.defaultOptions();
    List<Future<?>> workers = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      workers.add(
          threads.submit(
              () -> {
                counts.contend(client.lock("stock", options), TIMES);
                return null;
              }));
    }
    await().atMost(Duration.ofSeconds(30)).until(() -> counts.leases() > 20);
    nodes.get(2).kill();
    for (Future<?> worker : workers) {
      worker.get();
    }
    threads.shutdown();
  }
}
