package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireVerdict;
import dev.redlock.LockOptions;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import org.junit.jupiter.api.Test;

class AcquireRoundVotesTest {
  private static final long MILLI = TestNodes.MILLI;

  private final TestNodes nodes = new TestNodes(3);
  private final LockOptions config = TestNodes.options().build();
  private final long start = 10_000 * MILLI;

  private AcquireRound round() {
    return nodes.round(config, start, TestNodes.reply(Code.GRANTED));
  }

  private static void record(AcquireRound r, int node, NodeReply reply, long at) {
    r.answered(node);
    r.record(node, reply, at);
  }

  @Test
  void freeTime_isWhatTheReplySays_elseAWholeLeaseTime() {
    AcquireRound r = round();
    long now = start + 50 * MILLI;
    record(r, 0, TestNodes.held(200), start + 10 * MILLI);
    record(r, 1, NodeReply.failed(1, NodeError.Kind.BUSY, ""), start);
    assertThat(r.freeNanos(0, now)).isEqualTo(start + 211 * MILLI);
    assertThat(r.freeNanos(1, now)).as("an error tells nothing").isEqualTo(now + 1000 * MILLI);
    assertThat(r.freeNanos(2, now)).as("no reply").isEqualTo(now + 1000 * MILLI);
    record(r, 1, TestNodes.reply(Code.QUEUED), start);
    record(r, 2, TestNodes.reply(Code.STALE), start);
    assertThat(r.freeNanos(1, now)).isEqualTo(now + 1000 * MILLI);
    assertThat(r.freeNanos(2, now)).isEqualTo(now);
  }

  @Test
  void node_mayBeGranted_ifItWasAskedAndHasNotRefused() {
    AcquireRound r = round();
    r.recipients.notSent(0);
    record(r, 1, TestNodes.held(1), start);
    record(r, 2, NodeReply.failed(1, NodeError.Kind.TIMEOUT, ""), start);
    assertThat(r.mayBeGranted(0)).as("not asked").isFalse();
    assertThat(r.mayBeGranted(1)).as("refused").isFalse();
    assertThat(r.mayBeGranted(2)).as("unknown").isTrue();
    assertThat(r.isRefused(2)).isFalse();
    record(r, 2, TestNodes.reply(Code.GRANTED), start);
    assertThat(r.mayBeGranted(2)).isTrue();
  }

  @Test
  void silentNodes_areHungBeforeTheNodeTimeout_andSilentAtIt() {
    AcquireRound r = round();
    record(r, 0, TestNodes.reply(Code.GRANTED), start);
    nodes.blame(r.open(), false);
    assertThat(nodes.knowledge(0).hung()).isFalse();
    assertThat(nodes.knowledge(1).hung()).isTrue();
    assertThat(nodes.knowledge(1).silent()).isFalse();
    nodes.blame(r.open(), true);
    assertThat(nodes.knowledge(0).silent()).isFalse();
    assertThat(nodes.knowledge(1).silent()).isTrue();
    assertThat(nodes.knowledge(2).silent()).isTrue();
  }

  @Test
  void patience_isThatOfTheSlowestOpenNode_andNeverLongerThanTheNodeTimeout() {
    AcquireRound r = round();
    assertThat(r.impatientNanos()).isEqualTo(start + nodes.knowledge(0).patience());
    for (int i = 0; i < 50; i++) {
      nodes.heard(1, 0, 20 * MILLI, 0);
    }
    assertThat(r.impatientNanos())
        .isEqualTo(start + nodes.knowledge(1).patience())
        .isGreaterThan(start + 50 * MILLI);
    for (int i = 0; i < 50; i++) {
      nodes.heard(2, 0, 900 * MILLI, 0);
    }
    assertThat(r.impatientNanos()).isEqualTo(start + 100 * MILLI);
    for (int i = 0; i < 3; i++) {
      r.answered(i);
    }
    assertThat(r.impatientNanos()).as("none is open").isEqualTo(start + 100 * MILLI);
  }

  @Test
  void verdict_afterTheNodeTimeout_saysByHowMuch() {
    AcquireRound r = round();
    r.decide(start + 130 * MILLI, (start + 130 * MILLI) / MILLI, true);
    assertThat(r.verdict()).isEqualTo(AcquireVerdict.UNAVAILABLE);
    assertThat(r.overdueNanos()).isEqualTo(30 * MILLI);
  }

  @Test
  void round_thatWasNeverSent_waitsForNothing() {
    AcquireRound r = round();
    r.neverSent();
    assertThat(r.open()).isZero();
    assertThat(r.recipients.mask()).isZero();
  }

  @Test
  void othersQueued_isTheHighestNumberThatANodeSays() {
    AcquireRound r = round();
    assertThat(r.othersQueued()).isZero();
    record(r, 0, new NodeReply(Code.GRANTED, 1, 0, 0, 0, null, 2, null), start);
    record(r, 1, new NodeReply(Code.GRANTED, 1, 0, 0, 0, null, 1, null), start);
    assertThat(r.othersQueued()).isEqualTo(2);
  }

  @Test
  void secondRound_whoseTokenAQuorumMayAcceptLater_collided() {
    NodeReply stale = TestNodes.reply(Code.STALE);
    AcquireRound r = nodes.round(config, start, stale, 0, 1);
    assertThat(r.verdict()).isEqualTo(AcquireVerdict.STALE);
    AcquireRound one = nodes.round(config, start, stale, 0, 1, 2);
    one.overtaken(1);
    assertThat(one.verdict()).as("one of three accepts").isEqualTo(AcquireVerdict.STALE);
    one.overtaken(2);
    assertThat(one.verdict()).isEqualTo(AcquireVerdict.COLLIDED);
  }
}
