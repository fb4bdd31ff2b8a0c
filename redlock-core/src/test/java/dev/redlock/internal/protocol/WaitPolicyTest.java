package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WaitPolicyTest {
  private static final long MILLI = TestNodes.MILLI;
  private static final long PATIENCE = 25 * MILLI;

  private final TestNodes nodes = new TestNodes(3);
  private final WaitPolicy policy = new WaitPolicy(nodes, TestNodes.KEYS, new TestNodes.Middle());
  private final LockConfig config =
      LockConfig.of(TestNodes.options().leaseTime(Duration.ofSeconds(30)).build());
  private final int home = policy.home();
  private long now = 10_000 * MILLI;

  @BeforeEach
  void ask() {
    policy.asked(config);
  }

  private void refused(NodeReply vote) {
    policy.refused(nodes.round(config, now, vote, 0, 1, 2), now);
  }

  private QueueRequest request() {
    return new QueueRequest(nodes, home, now, now + PATIENCE, null);
  }

  private boolean queued(ReplyCode code, long remainingMillis, int ahead) {
    String mark = code == ReplyCode.HELD ? "another" : null;
    NodeReply reply = new NodeReply(code, 1, 0, 0, remainingMillis, mark, ahead, null);
    return policy.queued(request(), reply, config, now);
  }

  private long delay() {
    NextWake wake = new NextWake(now);
    policy.deadlines(wake);
    return wake.delayNanos();
  }

  private WakeUp wakes() {
    now += delay();
    assertThat(policy.isTime(now)).isTrue();
    return policy.wake();
  }

  @Test
  void newcomer_asksAllNodes_unlessOthersWantTheLock() {
    assertThat(policy.nodeToQueueAt(false)).isEqualTo(-1);
    assertThat(policy.nodeToQueueAt(true)).isEqualTo(home);
  }

  @Test
  void process_thatServedItsShare_asksAllNodesOnlyIfTheHomeNodeWakesWaiters() {
    LockConfig one = LockConfig.of(TestNodes.options().maxHandOffs(1).build());
    Turn turn = new Turn();
    turn.granted(nodes.round(one, now, TestNodes.reply(ReplyCode.GRANTED), 0, 1, 2));
    turn.handedOffLocally();
    turn.ended(one, now);
    assertThat(policy.nodeToQueueAt(turn, now)).isEqualTo(-1);
    nodes.polled = true;
    assertThat(policy.nodeToQueueAt(turn, now)).isEqualTo(home);
  }

  @Test
  void refusal_byAHolder_leadsToTheQueueAtOnce() {
    refused(TestNodes.held(30_000));
    assertThat(policy.isTime(now)).isTrue();
    assertThat(policy.nodeToQueueAt(false)).isEqualTo(home);
  }

  @Test
  void refusal_withoutAHolder_asksAllNodesAfterAPause() {
    refused(NodeReply.failed(1, dev.redlock.spi.NodeError.Kind.TIMEOUT, "by the test"));
    assertThat(delay()).isGreaterThan(MILLI);
    assertThat(wakes()).isEqualTo(WakeUp.PAUSE);
    assertThat(policy.nodeToQueueAt(false)).isEqualTo(-1);
  }

  @Test
  void nodeThatIsBack_wakesAProcessThatHadNoQuorum_whichAsksAllNodes() {
    refused(NodeReply.failed(1, dev.redlock.spi.NodeError.Kind.TIMEOUT, "by the test"));
    long pause = delay();
    policy.onNodeStatus(home, now);
    assertThat(delay()).isLessThan(pause);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    assertThat(policy.nodeToQueueAt(false)).as("the process is in no queue").isEqualTo(-1);
  }

  @Test
  void first_ofTheQueue_wakesWhenTheKeyExpires_andAsksTheHomeNode() {
    assertThat(queued(ReplyCode.HELD, 200, 0)).as("it is the first").isTrue();
    assertThat(delay()).isBetween(200 * MILLI, 202 * MILLI);
    assertThat(wakes()).isEqualTo(WakeUp.EXPIRY);
    assertThat(policy.nodeToQueueAt(false)).isEqualTo(home);
  }

  @Test
  void second_ofTheQueue_wakesALittleLater_andTheOthersPoll() {
    assertThat(queued(ReplyCode.HELD, 200, 1)).isFalse();
    assertThat(delay()).isBetween(200 * MILLI + PATIENCE, 202 * MILLI + PATIENCE);
    queued(ReplyCode.HELD, 200, 2);
    assertThat(delay()).isGreaterThanOrEqualTo(config.pollNanos());
    long near = delay();
    queued(ReplyCode.HELD, 200, 300);
    assertThat(delay())
        .as("further back, but it has to show that it is alive")
        .isGreaterThan(2 * near)
        .isLessThanOrEqualTo(WaitPolicy.MAX_POLLS * config.pollNanos());
  }

  @Test
  void first_thatHearsNothing_pollsAllNodes_andTheOthersTheHomeNode() {
    queued(ReplyCode.HELD, 30_000, 0);
    assertThat(wakes()).isEqualTo(WakeUp.POLL);
    assertThat(policy.nodeToQueueAt(false)).as("whatever it says").isEqualTo(-1);
    queued(ReplyCode.HELD, 30_000, 5);
    assertThat(wakes()).isEqualTo(WakeUp.POLL);
    assertThat(policy.nodeToQueueAt(false)).isEqualTo(home);
  }

  @Test
  void turn_thatComes_wakesAtOnce_andAsksAllNodes() {
    queued(ReplyCode.HELD, 30_000, 3);
    policy.onTurn(now);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    assertThat(policy.isAtTurn()).isTrue();
    assertThat(policy.nodeToQueueAt(true)).isEqualTo(-1);
  }

  @Test
  void processFarBack_thatIsWoken_tellsTheHomeNodeAtOnceThatItIsAlive() {
    queued(ReplyCode.HELD, 30_000, 30);
    policy.onTurn(now);
    assertThat(delay()).isZero();
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    assertThat(policy.isAtTurn()).isFalse();
    assertThat(policy.nodeToQueueAt(false)).isEqualTo(home);
  }

  @Test
  void turnOfOthers_thatMayPass_isLookedAtAgainWhenTheNodeSays_howeverManyAreBefore() {
    queued(ReplyCode.QUEUED, 40, 300);
    assertThat(delay()).isEqualTo(41 * MILLI);
  }

  @Test
  void newcomer_behindManyProcesses_doesNotWaitForThePatienceOfEach() {
    queued(ReplyCode.QUEUED, 0, 300);
    assertThat(delay()).isLessThanOrEqualTo(250 * MILLI);
  }

  @Test
  void turnOfTheProcessBefore_wakesAfterThePatience_andAsksTheHomeNode() {
    queued(ReplyCode.HELD, 30_000, 3);
    policy.onTurnBefore(now);
    assertThat(delay()).isEqualTo(PATIENCE);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    assertThat(policy.isAtTurn()).isFalse();
    assertThat(policy.nodeToQueueAt(false)).isEqualTo(home);
  }

  @Test
  void anothersTurn_isLookedAtAgainByTheSecond() {
    queued(ReplyCode.QUEUED, 0, 1);
    assertThat(delay()).isEqualTo(PATIENCE);
  }

  @Test
  void lockKey_thatChanges_concernsTheFirstOnly() {
    queued(ReplyCode.HELD, 30_000, 1);
    long before = delay();
    policy.onLockKey(false, now);
    assertThat(delay()).isEqualTo(before);
    queued(ReplyCode.HELD, 30_000, 0);
    policy.onLockKey(false, now);
    assertThat(delay()).as("the home node may hang").isEqualTo(PATIENCE);
  }

  @Test
  void releaseHint_bringsTheProcessNearer_andWakesTheFirst() {
    queued(ReplyCode.HELD, 30_000, 2);
    policy.onReleaseHint(false, now);
    assertThat(delay()).isGreaterThan(100 * MILLI);
    policy.onReleaseHint(false, now);
    assertThat(delay()).isLessThan(10 * MILLI);
  }

  @Test
  void releaseHint_thatOvertakesTheReply_isNotLost() {
    policy.nodeToQueueAt(true);
    policy.onReleaseHint(false, now);
    queued(ReplyCode.HELD, 30_000, 0);
    assertThat(delay()).isLessThan(10 * MILLI);
  }

  @Test
  void releaseHint_thatOvertakesTheRelease_leadsToASecondQuestion_butNotToAThird() {
    queued(ReplyCode.HELD, 30_000, 0);
    policy.onReleaseHint(false, now);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    queued(ReplyCode.HELD, 30_000, 0);
    assertThat(delay()).as("the release may be on its way").isLessThan(50 * MILLI);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    assertThat(policy.nodeToQueueAt(false)).isEqualTo(home);
    queued(ReplyCode.HELD, 30_000, 0);
    assertThat(delay()).as("the hint was wrong").isGreaterThan(100 * MILLI);
  }

  @Test
  void homeNode_thatFails_isReplacedByTheNext() {
    policy.notQueued(request(), now);
    assertThat(delay()).as("not without end").isPositive();
    int next = policy.nodeToQueueAt(false);
    assertThat(next).isNotEqualTo(home).isNotNegative();
  }

  @Test
  void homeNode_thatDoesNotReply_isReplacedByTheNext_alsoInFairMode() {
    policy.asked(LockConfig.of(TestNodes.options().fair(true).build()));
    policy.noReply(request());
    assertThat(delay()).as("at once").isEqualTo(Long.MAX_VALUE);
    assertThat(policy.home()).isNotEqualTo(home).isNotNegative();
  }

  @Test
  void turns_inVain_pauseLongerAndLonger() {
    AcquireRound r = atTurn();
    long last = 0;
    for (int i = 0; i < 8; i++) {
      policy.admitted(request(), NodeReply.of(ReplyCode.ADMITTED, 1, 0, 77));
      policy.refused(r, now);
      long pause = delay() == Long.MAX_VALUE ? 0 : delay();
      assertThat(pause).isGreaterThanOrEqualTo(last);
      last = pause;
      policy.wake();
    }
    assertThat(last).isGreaterThan(50 * MILLI);
    assertThat(policy.takeAfterToken()).as("a later lease than the home node knows").isEqualTo(78);
    assertThat(policy.takeAfterToken()).as("once").isZero();
  }

  private AcquireRound atTurn() {
    AcquireRound votes = nodes.round(config, now, TestNodes.held(30_000), 0, 1, 2);
    AcquireRound r =
        new AcquireRound(nodes, votes.request, config, null, true, -1, now, now / MILLI);
    for (int node = 0; node < 3; node++) {
      r.answered(node);
      r.onReply(node, TestNodes.held(30_000), now, now / MILLI);
    }
    return r;
  }

  @Test
  void client_withTooManyRounds_backsOffForAboutARound() {
    assertThat(policy.backsOff(config, now + 5000 * MILLI, now)).isFalse();
    for (int i = 0; i < nodes.limiter().limit(); i++) {
      nodes.limiter().began();
    }
    assertThat(policy.backsOff(config, now + 5000 * MILLI, now)).isTrue();
    assertThat(delay()).isBetween(MILLI, MILLI + MILLI / 100);
    assertThat(wakes()).isEqualTo(WakeUp.PAUSE);
  }

  @Test
  void client_withTooManyRounds_leavesEachWaiterTheTimeForTwo() {
    for (int i = 0; i < nodes.limiter().limit(); i++) {
      nodes.limiter().began();
    }
    assertThat(policy.backsOff(config, now + 200 * MILLI, now)).isFalse();
    assertThat(policy.isTime(now)).isTrue();
    assertThat(policy.backsOff(config, now + 203 * MILLI, now)).isTrue();
  }

  @Test
  void lockKey_thatChanges_wakesTheFirstAfterItsPatience_allIfThereAreSeveralNames() {
    refused(TestNodes.held(20_000));
    queued(ReplyCode.HELD, 20_000, 0);
    policy.onLockKey(false, now);
    assertThat(delay()).isEqualTo(PATIENCE);
    policy.onLockKey(true, now);
    assertThat(delay()).isEqualTo(2 * MILLI);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
  }

  @Test
  void lockKey_thatChanges_doesNotWakeTheSecond() {
    refused(TestNodes.held(20_000));
    queued(ReplyCode.HELD, 20_000, 1);
    long before = delay();
    policy.onLockKey(false, now);
    assertThat(delay()).isEqualTo(before);
  }

  @Test
  void minimumHold_isNotEndedByAHint() {
    policy.pauseUntil(now + 50 * MILLI);
    policy.onReleaseHint(false, now);
    assertThat(delay()).isEqualTo(50 * MILLI);
    assertThat(wakes()).isEqualTo(WakeUp.PAUSE);
  }

  @Test
  void homeNode_thatFailedToQueue_isAskedAgainAfterAPause() {
    policy.notQueued(request(), now);
    assertThat(delay()).isEqualTo(MILLI);
    assertThat(policy.nodeToQueueAt(false)).isNotEqualTo(-1);
    policy.notQueued(request(), now);
    assertThat(delay()).as("twice as long").isEqualTo(2 * MILLI);
    assertThat(policy.nodeToQueueAt(false)).as("all").isEqualTo(-1);
  }

  @Test
  void homeNode_thatIsSilent_isPassedOver() {
    policy.noReply(request());
    assertThat(nodes.knowledge(home).hung()).isTrue();
    assertThat(policy.nodeToQueueAt(false)).isNotEqualTo(home).isNotEqualTo(-1);
  }

  @Test
  void patienceWithTheHomeNode_isTheWholeNodeTimeout_inFairModeOnly() {
    assertThat(policy.patienceWith(home)).isEqualTo(10 * MILLI);
    policy.asked(LockConfig.of(TestNodes.options().fair(true).build()));
    assertThat(policy.patienceWith(home)).isEqualTo(100 * MILLI);
  }
}
