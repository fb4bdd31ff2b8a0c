package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** {@link TraceCheck} asks TLC about the traces. */
class TraceTest {
  @Test
  void seed_whoseHistoryIsRecorded_isTheSameWorld() {
    for (long seed = 1; seed <= 20; seed++) {
      assertThat(Simulator.run(seed, Scenario.Setting.NORMAL, true).digest())
          .as("seed %d", seed)
          .isEqualTo(Simulator.run(seed, Scenario.Setting.NORMAL, false).digest());
    }
  }

  @Test
  void seed_ofOneName_hasATraceWithVotesAndLeases() {
    List<String> lines = Trace.of(8, Scenario.Setting.NORMAL);
    assertThat(lines.get(0)).startsWith("trace HandOff NORMAL-8 nodes=3 quorum=2 ");
    assertThat(lines).anyMatch(line -> line.contains(" grants g="));
    assertThat(lines).anyMatch(line -> line.contains(" win g="));
    assertThat(lines).anyMatch(line -> line.contains(" end g="));
  }
}
