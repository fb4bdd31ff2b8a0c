package dev.redlock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LeaseEnd;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RunCommandTest {
  @Test
  void lossNearTheCap_isNamedByItsCause() {
    Duration cap = Duration.ofMinutes(10);
    Duration nearly = Duration.ofMinutes(9).plusSeconds(30);
    Duration left = Duration.ofSeconds(9);
    assertThat(RunCommand.lossLine("a", left, cap, cap, null)).contains("--cap 10 min");
    assertThat(RunCommand.lossLine("a", left, nearly, cap, null)).contains("cannot be extended");
    assertThat(RunCommand.lossLine("a", left, cap, cap, LeaseEnd.LOST)).contains("KILL at once");
  }
}
