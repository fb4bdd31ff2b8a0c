package dev.redlock.cli.look;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.operations.LockInspection;
import dev.redlock.operations.LockInspection.NodeView;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class HoldingTest {
  private static NodeView stores(String lease, int seconds) {
    return new NodeView("n", "VOTING", lease, Duration.ofSeconds(seconds), 7, null, "pod-3");
  }

  private static NodeView free() {
    return new NodeView("n", "VOTING", null, null, 7, null, null);
  }

  private static NodeView dead() {
    return new NodeView("n", "CONNECTING", null, null, 0, "DISCONNECTED: refused", null);
  }

  private static String sentence(NodeView... views) {
    LockInspection inspection = new LockInspection("a", views.length / 2 + 1, List.of(views));
    return Holding.of(inspection).sentence(inspection);
  }

  @Test
  void quorumStoresOneLease_isHeldUntilTheQuorumIsGone() {
    assertThat(sentence(stores("x", 9), stores("x", 5), stores("x", 7)))
        .isEqualTo(
            "'a' is held by 'pod-3' (lease x), stored by 3 of 3 nodes, for another 7 s unless it is"
                + " extended");
  }

  @Test
  void quorumStoresNothing_isFree() {
    assertThat(sentence(free(), free(), stores("x", 5))).isEqualTo("'a' is free");
  }

  @Test
  void tooFewReplies_isUnknownAndNotFree() {
    assertThat(sentence(free(), dead(), dead()))
        .isEqualTo("'a': unknown, 1 of 3 nodes replied and 2 are needed");
  }

  @Test
  void noLeaseHasAQuorum_isUnknown() {
    assertThat(sentence(stores("x", 5), stores("y", 5), dead()))
        .startsWith("'a': unknown, 'pod-3' (lease ")
        .endsWith(") is stored by 1 of 3 nodes and 2 are needed (2 replied)");
  }
}
