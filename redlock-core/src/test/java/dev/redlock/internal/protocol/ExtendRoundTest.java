package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import dev.redlock.spi.NodeReply.Code;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class ExtendRoundTest {
  private static final long MILLI = TestNodes.MILLI;

  private final TestNodes nodes = new TestNodes(3);
  private final LockOptions config = TestNodes.options().build();
  private final long start = 10_000 * MILLI;

  private HeldLease lease() {
    AcquireRound won = nodes.round(config, start, TestNodes.reply(Code.GRANTED), 0, 1, 2);
    return new HeldLease(new Grant(won, config), nodes, new TestNodes.Middle(), new ArrayList<>());
  }

  private ExtendRound round(HeldLease l) {
    return new ExtendRound(
        nodes, l, config.leaseTime().toMillis(), false, 0b111, start, start / MILLI);
  }

  private static ExtendVerdict reply(ExtendRound r, int node, Code code, long at) {
    r.answered(node);
    return r.onReply(node, TestNodes.reply(code), at, at / MILLI);
  }

  @Test
  void replies_afterTheNodeTimeout_renewUntilTheOldDeadline() {
    HeldLease l = lease();
    long last = l.validity().deadlineNanos() - 1;
    ExtendRound late = round(l);
    reply(late, 0, Code.EXTENDED, start);
    assertThat(reply(late, 1, Code.EXTENDED, last)).isEqualTo(ExtendVerdict.RENEWED);
    ExtendRound tooLate = round(l);
    reply(tooLate, 0, Code.EXTENDED, start);
    assertThat(reply(tooLate, 1, Code.EXTENDED, last + 1)).isEqualTo(ExtendVerdict.UNKNOWN);
  }

  @Test
  void repairs_areCounted() {
    ExtendRound r = round(lease());
    reply(r, 0, Code.REPAIRED, start);
    assertThat(r.repaired()).isEqualTo(1);
    reply(r, 1, Code.REPAIRED, start);
    reply(r, 2, Code.EXTENDED, start);
    assertThat(r.repaired()).isEqualTo(2);
  }
}
