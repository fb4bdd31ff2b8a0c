package dev.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Diagnosis.NodeFindings;
import dev.redlock.Redlock.NodeState;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class DiagnosisTest {
  private static String text(NodeState.State state, Duration remaining) {
    NodeState node = new NodeState("n1", state, remaining, "", 0);
    NodeFindings findings =
        new NodeFindings(node, null, null, null, null, false, null, 0, 0, null, List.of());
    return new Diagnosis(RestartGuard.UPTIME, List.of(findings)).toString();
  }

  @Test
  void text_nodeInQuarantine_saysHowLongItStillLasts() {
    assertThat(text(NodeState.State.QUARANTINED, Duration.ofMillis(5_994)))
        .startsWith("n1 QUARANTINED for another 5994 ms, ");
  }

  @Test
  void text_nodeThatVotes_namesNoTime() {
    assertThat(text(NodeState.State.VOTING, Duration.ZERO)).startsWith("n1 VOTING, ");
  }
}
