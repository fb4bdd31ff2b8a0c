package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.harness.ForkedJvm;
import dev.redlock.internal.Failpoint;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A test can stop a real client at each step, if the client was started for that. */
@RedisTest(nodes = 3)
class FailpointIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Test
  void eachStep_ofAClientWithFailpoints_isReached(RedisNodes nodes) {
    try (ForkedJvm client =
        ForkedJvm.of(Program.class)
            .property("redlock.failpoints", "true")
            .args(nodes.uris().toArray(String[]::new))
            .start()) {
      Set<Failpoint> reached = EnumSet.noneOf(Failpoint.class);
      while (!reached.equals(EnumSet.allOf(Failpoint.class))) {
        String line = client.awaitLine(said -> said.startsWith("reached "), PATIENCE);
        reached.add(Failpoint.valueOf(line.substring("reached ".length())));
      }
    }
  }

  @Test
  void step_withoutTheProperty_cannotBeArmed() {
    assertThat(System.getProperty("redlock.failpoints")).isNull();
    assertThatThrownBy(() -> Failpoint.BEFORE_GRANT.arm(() -> {}))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("redlock.failpoints");
  }

  /** Arms all steps, then extends, hands off and releases a lock. */
  static final class Program {
    private Program() {}

    public static void main(String[] uris) throws InterruptedException {
      for (Failpoint step : Failpoint.values()) {
        step.arm(() -> System.out.println("reached " + step));
      }
      LockOptions options = LockOptions.builder().leaseTime(Duration.ofSeconds(1)).build();
      try (Redlock redlock =
          Redlock.builder().nodes(uris).restartGuard(RestartGuard.OFF).defaults(options).build()) {
        while (true) {
          try (Lease lease = redlock.lock("steps").acquire(PATIENCE)) {
            Thread.sleep(lease.remainingValidity().toMillis() / 2); // It is extended meanwhile.
          }
        }
      }
    }
  }
}
