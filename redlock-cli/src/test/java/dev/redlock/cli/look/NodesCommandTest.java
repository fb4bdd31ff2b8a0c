package dev.redlock.cli.look;

import static dev.redlock.operations.NodeState.State.CONNECTING;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.cli.PresentSet;
import dev.redlock.operations.NodeState;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodesCommandTest {
  @ParameterizedTest
  @CsvSource({
    "still connecting: no reply,': some have not connected yet, try again'",
    "DISCONNECTED: refused,': no lock can be acquired now'",
  })
  void tooFewVotes_whileANodeStillConnects_areNotCalledAnOutage(String cause, String said) {
    List<NodeState> nodes = List.of(new NodeState("n", CONNECTING, Duration.ZERO, cause, 0, null));
    assertThat(NodesCommand.tooFew(PresentSet.of(nodes))).hasMessageEndingWith(said);
  }

  @Test
  void causeOfSeveralNodes_isSaidOnce() {
    assertThat(Look.together(List.of(1, 2), n -> "n" + n, n -> "dead")).isEqualTo("n1, n2 dead");
  }
}
