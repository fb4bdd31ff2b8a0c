package dev.redlock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.NodeStatus.State;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeStatusTest {
  private static final NodeStatus STATUS =
      new NodeStatus(State.VOTING, 1, 2, 3, "cause", false, null);

  @Test
  void statusWithTheSameComponents_isEqual() {
    NodeStatus same = new NodeStatus(State.VOTING, 1, 2, 3, "cause", false, null);

    assertThat(same).isEqualTo(STATUS).hasSameHashCodeAs(STATUS);
  }

  @Test
  void statusThatDiffersInAnyComponent_isNotEqual() {
    List<NodeStatus> others =
        List.of(
            new NodeStatus(State.PROBING, 1, 2, 3, "cause", false, null),
            new NodeStatus(State.VOTING, 9, 2, 3, "cause", false, null),
            new NodeStatus(State.VOTING, 1, 9, 3, "cause", false, null),
            new NodeStatus(State.VOTING, 1, 2, 9, "cause", false, null),
            new NodeStatus(State.VOTING, 1, 2, 3, "other", false, null),
            new NodeStatus(State.VOTING, 1, 2, 3, "cause", true, null),
            new NodeStatus(State.VOTING, 1, 2, 3, "cause", false, NodeRecord.NONE));

    assertThat(others)
        .hasSize(NodeStatus.class.getRecordComponents().length)
        .doesNotContain(STATUS);
  }
}
