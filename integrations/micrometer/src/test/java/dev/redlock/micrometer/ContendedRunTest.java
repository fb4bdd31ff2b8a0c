package dev.redlock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.DistributedLock;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The meters of a contended run in which a node dies count what the callers counted. */
class ContendedRunTest {
  private static final int THREADS = 6;
  private static final int TIMES = 80;

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };
  private final RunCounts counts = new RunCounts();

  private record Side(PrometheusMeterRegistry registry, Redlock client) {
    static Side on(InMemoryLockNode[] nodes) {
      PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      RedlockMetrics metrics = RedlockMetrics.create();
      metrics.bindTo(registry);
      LockNode[] own = new LockNode[nodes.length];
      for (int i = 0; i < own.length; i++) {
        own[i] = nodes[i].another();
      }
      Redlock client =
          Redlock.builder()
              .nodes(own)
              .restartGuard(RestartGuard.OFF)
              .nodeTimeout(Duration.ofSeconds(1))
              .listener(metrics)
              .build();
      assertThat(client.awaitReady(Duration.ofSeconds(20))).isTrue();
      return new Side(registry, client);
    }
  }

  @Test
  void meters_ofAContendedRunWithAKilledNode_equalTheCountsOfTheRun() throws Exception {
    Side one = Side.on(nodes);
    Side two = Side.on(nodes);
    run(List.of(one.client, two.client));
    one.client.close();
    two.client.close();
    List<PrometheusMeterRegistry> both = List.of(one.registry, two.registry);
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(timers(both, "redlock.hold")).isEqualTo(counts.leases()));
    counts.assertMetered(
        (outcome, mode) -> timers(both, "redlock.acquire", "outcome", outcome, "mode", mode));
    assertThat(timers(both, "redlock.acquire")).isEqualTo((long) THREADS * TIMES);
    assertThat(timers(both, "redlock.wait")).isEqualTo(counts.leases());
    for (LeaseEnd end : LeaseEnd.values()) {
      assertThat(timers(both, "redlock.hold", "end", end.name().toLowerCase(Locale.ROOT)))
          .as("leases that ended as " + end)
          .isEqualTo(counts.ended(end));
    }
    long handedOff = counts.ended(LeaseEnd.HANDED_OFF);
    assertThat(handedOff).isPositive();
    assertThat(counters(both, "redlock.handoff", "kind", "local")).isEqualTo((double) handedOff);
    for (PrometheusMeterRegistry registry : both) {
      assertThat(Meters.gauge(registry, "redlock.waiters")).isZero();
      assertThat(Meters.gauge(registry, "redlock.leases.held")).isZero();
      assertThat(Meters.counter(registry, "redlock.events.dropped")).isZero();
      assertThat(Meters.requests(registry, "node", "a", "op", "acquire", "result", "granted"))
          .isPositive();
    }
    scraped(one.registry);
  }

  private void run(List<Redlock> clients) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    LockOptions few = clients.get(0).defaultOptions().toBuilder().queueBound(2).build();
    List<Future<?>> workers = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      DistributedLock lock = clients.get(i % clients.size()).lock("stock", few);
      workers.add(
          threads.submit(
              () -> {
                counts.contend(lock, TIMES);
                return null;
              }));
    }
    await().atMost(Duration.ofSeconds(30)).until(() -> counts.leases() > 20);
    nodes[2].kill();
    for (Future<?> worker : workers) {
      worker.get();
    }
    threads.shutdown();
    nodes[2].restart();
  }

  private static void scraped(PrometheusMeterRegistry registry) throws IOException {
    String path = System.getProperty("redlock.scraped");
    if (path != null) { // For a trial with a real Prometheus.
      Files.writeString(Path.of(path), registry.scrape());
    }
    Queries.exist(registry.scrape());
    assertThat(Queries.unused(registry.scrape()))
        .allMatch(metric -> metric.endsWith("_max"), "is the longest duration of a timer");
    long acquired =
        Meters.timer(registry, "redlock.acquire", "outcome", "acquired", "mode", "wait");
    assertThat(registry.scrape().lines())
        .contains(
            "redlock_acquire_seconds_count{mode=\"wait\",outcome=\"acquired\"} " + acquired,
            "redlock_waiters 0.0",
            "redlock_leases_held 0.0",
            "redlock_lost_total{cause=\"lost\"} 0.0")
        .anyMatch(line -> line.startsWith("redlock_node_request_seconds_count{node=\"a\",op="))
        .anyMatch(line -> line.startsWith("redlock_node_state{node=\"c\",state=\"voting\"}"))
        .anyMatch(line -> line.startsWith("redlock_releases_pending{node=\"c\"}"))
        .anyMatch(line -> line.startsWith("redlock_validity_left_seconds_sum"));
  }

  private static long timers(List<PrometheusMeterRegistry> all, String name, String... tags) {
    return all.stream().mapToLong(registry -> Meters.timer(registry, name, tags)).sum();
  }

  private static double counters(List<PrometheusMeterRegistry> all, String name, String... tags) {
    return all.stream().mapToDouble(registry -> Meters.counter(registry, name, tags)).sum();
  }
}
