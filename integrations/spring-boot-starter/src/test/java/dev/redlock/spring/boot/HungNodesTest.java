package dev.redlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.Redlock;
import dev.redlock.spring.MemoryNodes;
import dev.redlock.testkit.RedisNodes;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Health with masters that accept connections and do not reply. */
@Timeout(90)
@Tag("thorough")
class HungNodesTest {

  @Test
  void health_ofAnIdleClientWhoseNodesHang_followsThem() {
    try (RedisNodes masters = RedisNodes.start(3)) {
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  RedlockAutoConfiguration.class, RedlockHealthAutoConfiguration.class))
          .withPropertyValues(
              "redlock.restart-guard=off", "redlock.nodes=" + String.join(",", masters.uris()))
          .run(
              context -> {
                Redlock redlock = context.getBean(Redlock.class);
                HealthIndicator health = context.getBean(HealthIndicator.class);
                assertThat(redlock.awaitReady(MemoryNodes.DEADLINE)).isTrue();
                awaitStatus(health, Status.UP, masters);
                masters.get(0).pause();
                awaitStatus(health, RedlockHealthIndicator.DEGRADED, masters);
                masters.get(1).pause();
                awaitStatus(health, Status.DOWN, masters);
                masters.endFaults();
                awaitStatus(health, Status.UP, masters);
              });
    }
  }

  private static void awaitStatus(HealthIndicator health, Status status, RedisNodes masters) {
    await()
        .atMost(MemoryNodes.DEADLINE)
        .untilAsserted(
            () -> assertThat(health.health().getStatus()).as(masters.describe()).isEqualTo(status));
  }
}
