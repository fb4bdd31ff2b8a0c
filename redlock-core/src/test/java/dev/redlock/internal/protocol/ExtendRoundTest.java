package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class ExtendRoundTest {
  private static final long MILLI = TestNodes.MILLI;

  private final TestNodes nodes = new TestNodes(3);
  private final LockConfig config = LockConfig.of(TestNodes.options().build());
  private final long start = 10_000 * MILLI;

  private HeldLease lease() {
    AcquireRound won = nodes.round(config, start, TestNodes.reply(Code.GRANTED), 0, 1, 2);
    return new HeldLease(new Grant(won, config), nodes, new TestNodes.Middle(), new ArrayList<>());
  }

  private ExtendRound round(boolean repair, long candidates) {
    return round(lease(), repair, candidates, start);
  }

  private ExtendRound round(HeldLease l, boolean repair, long candidates, long now) {
    return new ExtendRound(nodes, l, config.ttlMillis(), repair, candidates, now, now / MILLI);
  }

  private static ExtendVerdict reply(ExtendRound r, int node, Code code, long at) {
    r.answered(node);
    return r.onReply(node, TestNodes.reply(code), at, at / MILLI);
  }

  @Test
  void replies_afterTheNodeTimeout_renewUntilTheOldDeadline() {
    HeldLease l = lease();
    long last = l.validity().deadlineNanos() - 1;
    ExtendRound late = round(l, false, 0b111, start);
    reply(late, 0, Code.EXTENDED, start);
    assertThat(reply(late, 1, Code.EXTENDED, last)).isEqualTo(ExtendVerdict.RENEWED);
    ExtendRound tooLate = round(l, false, 0b111, start);
    reply(tooLate, 0, Code.EXTENDED, start);
    assertThat(reply(tooLate, 1, Code.EXTENDED, last + 1)).isEqualTo(ExtendVerdict.UNKNOWN);
  }

  @Test
  void repairs_areCounted() {
    ExtendRound r = round(false, 0b111);
    reply(r, 0, Code.REPAIRED, start);
    assertThat(r.repaired()).isEqualTo(1);
    reply(r, 1, Code.REPAIRED, start);
    reply(r, 2, Code.EXTENDED, start);
    assertThat(r.repaired()).isEqualTo(2);
    assertThat(r.repairs()).isFalse();
  }

  @Test
  void repair_goesToTheNodesOfItsMaskThatWork_anExtensionToAllThatAreUsable() {
    nodes.status(1, new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "by the test", true));
    ExtendRound repair = round(true, 0b011);
    assertThat(repair.repairs()).isTrue();
    assertThat(repair.open()).isEqualTo(0b001);
    assertThat(round(false, 0b111).open()).isEqualTo(0b111);
  }
}
