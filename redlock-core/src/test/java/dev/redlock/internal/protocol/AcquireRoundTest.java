package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireVerdict;
import dev.redlock.LockOptions;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import org.junit.jupiter.api.Test;

class AcquireRoundTest {
  private static final long MILLI = TestNodes.MILLI;

  private final TestNodes nodes = new TestNodes(3);
  private final LockOptions config = TestNodes.options().build();
  private final long start = 10_000 * MILLI;

  private AcquireRound round(NodeReply vote, int... voters) {
    return nodes.round(config, start, vote, voters);
  }

  private AcquireVerdict timer(AcquireRound r, long afterNanos) {
    return r.onTimer(start + afterNanos, (start + afterNanos) / MILLI);
  }

  @Test
  void invalidation_behindARefusal_saysThatTheNodeMayBeFree() {
    AcquireRound r = round(TestNodes.held(200), 1);
    r.onInvalidation(0);
    r.onInvalidation(1);
    assertThat(r.mayBeFreeSince(0)).as("has not replied").isFalse();
    assertThat(r.mayBeFreeSince(1)).isTrue();
    r.onInvalidation(2);
    r.answered(2);
    r.record(2, TestNodes.held(200), start);
    assertThat(r.mayBeFreeSince(2)).as("invalidated before its reply").isFalse();
    r.onInvalidation(2);
    assertThat(r.mayBeFreeSince(1)).isTrue();
    assertThat(r.mayBeFreeSince(2)).isTrue();
    r.record(2, TestNodes.reply(Code.GRANTED), start);
    assertThat(r.mayBeFreeSince(2)).as("granted").isFalse();
  }

  @Test
  void freeNodes_areThoseThatGrantedOrRefusedTheTokenOnly() {
    AcquireRound r = round(TestNodes.reply(Code.GRANTED), 0);
    r.record(1, TestNodes.reply(Code.STALE), start);
    r.record(2, TestNodes.held(200), start);
    assertThat(r.freeBeside(2)).isEqualTo(2);
    assertThat(r.freeBeside(0)).isEqualTo(1);
  }

  @Test
  void quorumIsFree_whenTheSecondOfThreeNodesIs() {
    AcquireRound r = round(TestNodes.held(200), 0);
    r.record(1, TestNodes.held(300), start);
    r.record(2, TestNodes.held(100), start);
    assertThat(r.quorumFreeNanos(start)).isEqualTo(start + 201 * MILLI);
    assertThat(r.quorumFreeNanos(start + 500 * MILLI)).isEqualTo(start + 500 * MILLI);
  }

  @Test
  void round_withoutAHolder_waitsUntilTheNodeTimeout() {
    AcquireRound r = round(TestNodes.reply(Code.GRANTED), 0);
    assertThat(r.wakeNanos()).isEqualTo(start + 100 * MILLI + 1);
    assertThat(timer(r, 50 * MILLI)).isEqualTo(AcquireVerdict.UNDECIDED);
    assertThat(nodes.knowledge(1).hung()).isFalse();
    assertThat(timer(r, 100 * MILLI + 1)).isEqualTo(AcquireVerdict.UNAVAILABLE);
    assertThat(nodes.knowledge(1).silent()).isTrue();
  }

  private static NodeReply held() {
    return TestNodes.held(200);
  }

  @Test
  void fiveNodes_whoseVotesAreSplit_collideWhenTheOthersAreSlow() {
    TestNodes five = new TestNodes(5);
    AcquireRound r = five.round(config, start, TestNodes.reply(Code.GRANTED), 0, 1);
    for (int i = 2; i < 4; i++) {
      r.answered(i);
      NodeReply other = NodeReply.held(1, 0, 0, 200, "holder-" + i);
      r.onReply(i, other, start, start / MILLI);
    }
    long patience = five.knowledge(4).patience();
    assertThat(r.wakeNanos()).isEqualTo(start + patience);
    assertThat(timer(r, patience - 1)).isEqualTo(AcquireVerdict.UNDECIDED);
    assertThat(timer(r, patience)).isEqualTo(AcquireVerdict.COLLIDED);
  }

  /** It has a quorum of votes, so it is no collision that one node stores another lease. */
  @Test
  void quorum_thatLacksTheSlowHomeNodeOnly_wins_alsoIfANodeStoresAnotherLease() {
    TestNodes five = new TestNodes(5);
    AcquireRound r =
        new AcquireRound(five, round(held()).request, config, false, 4, start, start / MILLI);
    for (int i = 0; i < 4; i++) {
      r.answered(i);
      r.onReply(i, i == 3 ? held() : MachineFixture.reply(Code.GRANTED, 1), start, start / MILLI);
    }
    assertThat(r.verdict()).isEqualTo(AcquireVerdict.UNDECIDED);
    assertThat(timer(r, five.knowledge(4).patience())).isEqualTo(AcquireVerdict.ACQUIRED);
  }

  @Test
  void holder_andNodesThatWereSilentBefore_endTheRoundBeforeTheNodeTimeout() {
    nodes.blame(1L << 1, true);
    nodes.blame(1L << 2, true);
    AcquireRound r = round(held(), 0);
    long patience = nodes.knowledge(1).patience();
    assertThat(r.wakeNanos()).isEqualTo(start + patience);
    assertThat(timer(r, patience - 1)).isEqualTo(AcquireVerdict.UNDECIDED);
    assertThat(timer(r, patience)).isEqualTo(AcquireVerdict.UNAVAILABLE);
  }

  @Test
  void holder_andOneNodeThatRepliedBefore_waitsForIt() {
    nodes.blame(1L << 1, true);
    AcquireRound r = round(held(), 0);
    assertThat(r.wakeNanos()).isEqualTo(start + 100 * MILLI + 1);
    assertThat(timer(r, 50 * MILLI)).isEqualTo(AcquireVerdict.UNDECIDED);
  }
}
