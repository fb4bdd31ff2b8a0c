package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import org.junit.jupiter.api.Test;

class TurnTest {
  private static final long MILLI = TestNodes.MILLI;
  private static final NodeReply ALONE = TestNodes.reply(Code.RELEASED);
  private static final NodeReply OTHERS = new NodeReply(Code.RELEASED, 1, 0, 0, 0, null, 1, null);

  private final TestNodes nodes = new TestNodes(3);
  private final LockOptions config = TestNodes.options().maxHandOffs(2).build();
  private final Turn turn = new Turn();
  private final long now = 10_000 * MILLI;

  private void granted() {
    turn.granted(nodes.round(config, now, TestNodes.reply(Code.GRANTED), 0, 1, 2));
  }

  private HeldLease lease(LockOptions of, int handOffs) {
    HeldLease l = nodes.lease(of, now);
    for (int i = 0; i < handOffs; i++) {
      l = new HeldLease(l, now);
    }
    return l;
  }

  @Test
  void process_thatKnowsOfNoOthers_asksAtOnce() {
    granted();
    turn.ended(lease(config, 0), now);
    turn.released(ALONE, true);
    assertThat(turn.othersWant()).isFalse();
  }

  @Test
  void others_thatAnyNodeReports_comeFirst() {
    granted();
    turn.released(OTHERS, false);
    assertThat(turn.othersWant()).isTrue();
  }

  @Test
  void othersAreGone_onlyIfTheHomeNodeSaysSo() {
    turn.heldByOthers();
    granted();
    turn.released(ALONE, false);
    assertThat(turn.othersWant()).as("another node does not know").isTrue();
    turn.released(ALONE, true);
    assertThat(turn.othersWant()).isFalse();
  }

  @Test
  void othersWereSeen_inFairMode_isNotForgottenAtOnce() {
    LockOptions fair = TestNodes.options().fair(true).build();
    turn.heldByOthers();
    granted();
    turn.ended(lease(fair, 0), now);
    turn.released(ALONE, true);
    assertThat(turn.othersWant()).isTrue();
  }

  @Test
  void handOffs_makeTheHomeNodeDecide() {
    turn.ended(lease(config, 0), now);
    assertThat(turn.needsHome(now)).as("this process has just asked").isFalse();
    turn.ended(lease(config, 1), now);
    assertThat(turn.needsHome(now)).as("no node was asked for a while").isTrue();
    assertThat(turn.needsHome(now + 1000 * MILLI)).as("long after").isFalse();
  }

  @Test
  void state_lingersAfterTheEndOnly() {
    assertThat(turn.lingersUntilNanos()).isEqualTo(Long.MIN_VALUE);
    granted();
    turn.ended(lease(config, 0), now);
    assertThat(turn.lingersUntilNanos()).isGreaterThan(now);
  }
}
