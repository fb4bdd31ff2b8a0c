package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
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
  void fault_thatBegins_isToldByItsNameToo() {
    Nemesis.Fault fault =
        new Nemesis.Fault("w2", "does not hear of 3 masters", Duration.ofMillis(1_200), () -> {});
    assertThat(Harness.line(Nemesis.PARTITION, fault))
        .isEqualTo("N4 partition: w2 does not hear of 3 masters for 1200 ms");
  }

  @Test
  void help_saysEveryFaultInWords() {
    String help = Failures.command().getUsageMessage();
    for (Nemesis nemesis : Nemesis.values()) {
      assertThat(help).contains(nemesis.label() + ": ");
    }
    assertThat(help).contains("N2 stop-node: SIGSTOP of one or two masters");
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
