package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class FailuresTest {

  @Test
  void nemeses_byCodeNameOrAll_areEachChosenOnce_inTheirOrder() {
    assertThat(Failures.chosen(List.of("latency", "n1", "kill-empty")))
        .containsExactly(
            Nemesis.KILL_EMPTY, Nemesis.KILL_KEEPING, Nemesis.KILL_TRUNCATED, Nemesis.LATENCY);
    assertThat(Failures.chosen(List.of("all"))).containsExactly(Nemesis.values());
  }

  @Test
  void nemesis_unknown_isRejectedByName_withTheKnownOnes() {
    assertThatThrownBy(() -> Failures.chosen(List.of("partition", "latencie")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("latencie")
        .hasMessageContaining("N5 latency")
        .hasMessageContaining("N1 kill-empty");
  }
}
