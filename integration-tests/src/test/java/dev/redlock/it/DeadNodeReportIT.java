package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.operations.LockInspection;
import dev.redlock.operations.NodeState.State;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.internal.Waiting;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a report and an inspection say of a master that died. */
class DeadNodeReportIT {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @Test
  void masterDied_reportAndInspection_nameTheKindOfTheFailureOnce() throws Exception {
    try (RedisNodes masters = RedisNodes.start(1);
        Redlock redlock =
            Redlock.builder()
                .nodes(masters.uris().toArray(String[]::new))
                .restartGuard(RestartGuard.OFF)
                .build()) {
      assertThat(redlock.awaitReady(PATIENCE)).isTrue();
      masters.get(0).kill();
      Waiting.until(
          () -> "the client noticed the death: " + redlock.operations().nodes(),
          PATIENCE,
          () -> redlock.operations().nodes().get(0).state() == State.CONNECTING);

      assertThatThrownBy(() -> redlock.lock("a").tryAcquire())
          .isInstanceOf(QuorumUnavailableException.class)
          .hasMessageContaining("SILENT (DISCONNECTED: ")
          .hasMessageNotContaining("CONNECTING DISCONNECTED");
      LockInspection found =
          redlock
              .operations()
              .inspect("a")
              .toCompletableFuture()
              .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(found.nodes().get(0).error())
          .startsWith("DISCONNECTED: ")
          .doesNotContain("DISCONNECTED: DISCONNECTED");
    }
  }
}
