package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.internal.IndependenceCheckTest.Named;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.helpers.NOPLogger;

class NodeSetTest {
  private final NodeSet nodes =
      new NodeSet(
          List.of(new Named("a"), new Named("b")),
          new FailureLog(NOPLogger.NOP_LOGGER),
          NOPLogger.NOP_LOGGER);

  @Test
  void pendingReleases_overAllNodes_areTooManyBeyondTheLimit() {
    nodes.releasesPending(0, NodeSet.PENDING_LIMIT - 1);
    nodes.releasesPending(1, 1);
    assertThat(nodes.tooManyReleasesPending()).as("at the limit").isFalse();
    nodes.releasesPending(1, 1);
    assertThat(nodes.tooManyReleasesPending()).as("beyond it").isTrue();
    nodes.releasesPending(0, -1);
    assertThat(nodes.tooManyReleasesPending()).as("at the limit again").isFalse();
    assertThat(nodes.releasesPending(0)).isEqualTo(NodeSet.PENDING_LIMIT - 2);
    assertThat(nodes.releasesPending(1)).isEqualTo(2);
  }
}
