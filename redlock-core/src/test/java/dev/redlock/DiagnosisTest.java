package dev.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.operations.Diagnosis;
import dev.redlock.operations.Diagnosis.NodeFindings;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class DiagnosisTest {
  private static String text(NodeState.State state, Duration remaining) {
    return diagnosis(1, state, remaining).toString();
  }

  private static Diagnosis diagnosis(int count, NodeState.State state, Duration remaining) {
    NodeState node = new NodeState("n1", state, remaining, "", 0, null);
    NodeFindings findings =
        new NodeFindings(node, null, null, null, null, false, null, 0, 0, null, List.of());
    return new Diagnosis(RestartGuard.UPTIME, Collections.nCopies(count, findings));
  }

  @Test
  void diagnosis_ofAnEvenNumberOfNodes_saysThatTheyTolerateNoMoreFailures() {
    Diagnosis four = diagnosis(4, NodeState.State.VOTING, Duration.ZERO);
    assertThat(four.healthy()).isFalse();
    assertThat(four.toString())
        .endsWith(
            "all nodes: 4 nodes tolerate 1 failure, no more than 3 nodes do: an odd number of nodes"
                + " is better, such as 5");
  }

  @Test
  void diagnosis_ofAnOddNumberOfNodes_isHealthy() {
    for (int count : new int[] {1, 3, 5}) {
      Diagnosis odd = diagnosis(count, NodeState.State.VOTING, Duration.ZERO);
      assertThat(odd.healthy()).isTrue();
      assertThat(odd.toString()).doesNotContain("all nodes");
    }
  }

  @Test
  void text_nodeInQuarantine_saysHowLongItStillLasts() {
    assertThat(text(NodeState.State.QUARANTINED, Duration.ofMillis(5_994)))
        .startsWith("n1 QUARANTINED for another 5.99 s, ");
  }

  @Test
  void text_nodeThatVotes_namesNoTime() {
    assertThat(text(NodeState.State.VOTING, Duration.ZERO)).startsWith("n1 VOTING, ");
  }
}
