package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WaitTest {
  private static final long MILLI = TestNodes.MILLI;
  private static final long PATIENCE = 25 * MILLI;

  private final TestNodes nodes = new TestNodes(3);
  private final HomeNode homeNode = new HomeNode(nodes, TestNodes.KEYS);
  private final Wait wait = new Wait(nodes, homeNode, new TestNodes.Middle());
  private final LockOptions config = TestNodes.options().leaseTime(Duration.ofSeconds(30)).build();
  private final int home = homeNode.node();
  private long now = 10_000 * MILLI;

  @BeforeEach
  void ask() {
    serve(config);
  }

  private void serve(LockOptions of) {
    wait.askedBy(new TestNodes.Caller(of, now, 5000 * MILLI, false));
  }

  private int nodeToQueueAt(boolean othersWant) {
    Turn turn = new Turn();
    if (othersWant) {
      turn.heldByOthers();
    }
    return wait.nodeToQueueAt(turn, now);
  }

  private void refused(NodeReply vote) {
    wait.refused(nodes.round(config, now, vote, 0, 1, 2), now);
  }

  private QueueRequest request() {
    return new QueueRequest(nodes, home, now, now + PATIENCE, null);
  }

  private boolean queued(Code code, long remainingMillis, int ahead) {
    String mark = code == Code.HELD ? "another" : null;
    NodeReply reply = new NodeReply(code, 1, 0, 0, remainingMillis, mark, ahead, null);
    return wait.queued(request(), reply, now);
  }

  private long delay() {
    NextWake wake = new NextWake(now);
    wait.deadlines(wake);
    return wake.delayNanos();
  }

  private WakeUp wakes() {
    now += delay();
    assertThat(wait.isAsleep(now)).isFalse();
    return wait.wake();
  }

  @Test
  void newcomer_asksAllNodes_unlessOthersWantTheLock() {
    assertThat(nodeToQueueAt(false)).isEqualTo(-1);
    assertThat(nodeToQueueAt(true)).isEqualTo(home);
  }

  @Test
  void process_thatServedItsShare_asksAllNodesOnlyIfTheHomeNodeWakesWaiters() {
    LockOptions one = TestNodes.options().maxHandOffs(1).build();
    Turn turn = new Turn();
    turn.ended(new HeldLease(nodes.lease(one, now), now), now);
    assertThat(wait.nodeToQueueAt(turn, now)).isEqualTo(-1);
    nodes.polled = true;
    assertThat(wait.nodeToQueueAt(turn, now)).isEqualTo(home);
  }

  @Test
  void refusal_byAHolder_leadsToTheQueueAtOnce() {
    refused(TestNodes.held(30_000));
    assertThat(wait.isAsleep(now)).isFalse();
    assertThat(nodeToQueueAt(false)).isEqualTo(home);
  }

  @Test
  void refusal_withoutAHolder_asksAllNodesAfterAPause() {
    refused(NodeReply.failed(1, dev.redlock.spi.NodeError.Kind.TIMEOUT, "by the test"));
    assertThat(delay()).isGreaterThan(MILLI);
    assertThat(wakes()).isEqualTo(WakeUp.PAUSE);
    assertThat(nodeToQueueAt(false)).isEqualTo(-1);
  }

  @Test
  void nodeThatIsBack_wakesAProcessThatHadNoQuorum_whichAsksAllNodes() {
    refused(NodeReply.failed(1, dev.redlock.spi.NodeError.Kind.TIMEOUT, "by the test"));
    long pause = delay();
    wait.onNodeStatus(home, now);
    assertThat(delay()).isLessThan(pause);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    assertThat(nodeToQueueAt(false)).as("the process is in no queue").isEqualTo(-1);
  }

  @Test
  void first_ofTheQueue_wakesWhenTheKeyExpires_andAsksTheHomeNode() {
    assertThat(queued(Code.HELD, 200, 0)).as("it is the first").isTrue();
    assertThat(delay()).isBetween(200 * MILLI, 202 * MILLI);
    assertThat(wakes()).isEqualTo(WakeUp.EXPIRY);
    assertThat(nodeToQueueAt(false)).isEqualTo(home);
  }

  @Test
  void second_ofTheQueue_wakesALittleLater_andTheOthersPoll() {
    assertThat(queued(Code.HELD, 200, 1)).isFalse();
    assertThat(delay()).isBetween(200 * MILLI + PATIENCE, 202 * MILLI + PATIENCE);
    queued(Code.HELD, 200, 2);
    assertThat(delay()).isGreaterThanOrEqualTo(config.pollInterval().toNanos());
    long near = delay();
    queued(Code.HELD, 200, 300);
    assertThat(delay())
        .as("further back, but it has to show that it is alive")
        .isGreaterThan(2 * near)
        .isLessThanOrEqualTo(Place.MAX_POLLS * config.pollInterval().toNanos());
  }

  @Test
  void first_thatHearsNothing_pollsAllNodes_andTheOthersTheHomeNode() {
    queued(Code.HELD, 30_000, 0);
    assertThat(wakes()).isEqualTo(WakeUp.POLL);
    assertThat(nodeToQueueAt(false)).as("whatever it says").isEqualTo(-1);
    queued(Code.HELD, 30_000, 5);
    assertThat(wakes()).isEqualTo(WakeUp.POLL);
    assertThat(nodeToQueueAt(false)).isEqualTo(home);
  }

  @Test
  void turn_thatComes_wakesAtOnce_andAsksAllNodes() {
    queued(Code.HELD, 30_000, 3);
    wait.onTurn(now);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    assertThat(wait.isAtTurn()).isTrue();
    assertThat(nodeToQueueAt(true)).isEqualTo(-1);
  }

  @Test
  void processFarBack_thatIsWoken_tellsTheHomeNodeAtOnceThatItIsAlive() {
    queued(Code.HELD, 30_000, 30);
    wait.onTurn(now);
    assertThat(delay()).isZero();
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    assertThat(wait.isAtTurn()).isFalse();
    assertThat(nodeToQueueAt(false)).isEqualTo(home);
  }

  @Test
  void turnOfOthers_thatMayPass_isLookedAtAgainWhenTheNodeSays_howeverManyAreBefore() {
    queued(Code.QUEUED, 40, 300);
    assertThat(delay()).isEqualTo(41 * MILLI);
  }

  @Test
  void newcomer_behindManyProcesses_doesNotWaitForThePatienceOfEach() {
    queued(Code.QUEUED, 0, 300);
    assertThat(delay()).isLessThanOrEqualTo(250 * MILLI);
  }

  @Test
  void turnOfTheProcessBefore_wakesAfterThePatience_andAsksTheHomeNode() {
    queued(Code.HELD, 30_000, 3);
    wait.onTurnBefore(now);
    assertThat(delay()).isEqualTo(PATIENCE);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    assertThat(wait.isAtTurn()).isFalse();
    assertThat(nodeToQueueAt(false)).isEqualTo(home);
  }

  @Test
  void anothersTurn_isLookedAtAgainByTheSecond() {
    queued(Code.QUEUED, 0, 1);
    assertThat(delay()).isEqualTo(PATIENCE);
  }

  @Test
  void lockKey_thatChanges_concernsTheFirstOnly() {
    queued(Code.HELD, 30_000, 1);
    long before = delay();
    wait.onLockKey(false, now);
    assertThat(delay()).isEqualTo(before);
    queued(Code.HELD, 30_000, 0);
    wait.onLockKey(false, now);
    assertThat(delay()).as("the home node may hang").isEqualTo(PATIENCE);
  }

  @Test
  void releaseHint_bringsTheProcessNearer_andWakesTheFirst() {
    queued(Code.HELD, 30_000, 2);
    wait.onReleaseHint(false, now);
    assertThat(delay()).isGreaterThan(100 * MILLI);
    wait.onReleaseHint(false, now);
    assertThat(delay()).isLessThan(10 * MILLI);
  }

  @Test
  void releaseHint_thatOvertakesTheReply_isNotLost() {
    wait.enter(request());
    wait.onReleaseHint(false, now);
    queued(Code.HELD, 30_000, 0);
    assertThat(delay()).isLessThan(10 * MILLI);
  }

  @Test
  void releaseHint_thatOvertakesTheRelease_leadsToASecondQuestion_butNotToAThird() {
    queued(Code.HELD, 30_000, 0);
    wait.onReleaseHint(false, now);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    queued(Code.HELD, 30_000, 0);
    assertThat(delay()).as("the release may be on its way").isLessThan(50 * MILLI);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
    assertThat(nodeToQueueAt(false)).isEqualTo(home);
    queued(Code.HELD, 30_000, 0);
    assertThat(delay()).as("the hint was wrong").isGreaterThan(100 * MILLI);
  }

  @Test
  void homeNode_thatFails_isReplacedByTheNext() {
    wait.notQueued(request(), now);
    assertThat(delay()).as("not without end").isPositive();
    int next = nodeToQueueAt(false);
    assertThat(next).isNotEqualTo(home).isNotNegative();
  }

  @Test
  void homeNode_thatDoesNotReply_isReplacedByTheNext_alsoInFairMode() {
    serve(TestNodes.options().fair(true).build());
    wait.enter(request());
    wait.noReply(request());
    assertThat(delay()).as("at once").isEqualTo(Long.MAX_VALUE);
    assertThat(homeNode.node()).isNotEqualTo(home).isNotNegative();
  }

  @Test
  void turns_inVain_pauseLongerAndLonger() {
    AcquireRound r = atTurn();
    long last = 0;
    for (int i = 0; i < 8; i++) {
      wait.admitted(request(), NodeReply.of(Code.ADMITTED, 1, 0, 77));
      wait.refused(r, now);
      long pause = delay() == Long.MAX_VALUE ? 0 : delay();
      assertThat(pause).isGreaterThanOrEqualTo(last);
      last = pause;
      wait.wake();
    }
    assertThat(last).isGreaterThan(50 * MILLI);
    assertThat(wait.afterToken()).as("a later lease than the home node knows").isEqualTo(78);
    wait.enter(request());
    assertThat(wait.afterToken()).as("once").isZero();
  }

  private AcquireRound atTurn() {
    AcquireRound votes = nodes.round(config, now, TestNodes.held(30_000), 0, 1, 2);
    AcquireRound r = new AcquireRound(nodes, votes.request, config, true, -1, now, now / MILLI);
    for (int node = 0; node < 3; node++) {
      r.answered(node);
      r.onReply(node, TestNodes.held(30_000), now, now / MILLI);
    }
    return r;
  }

  @Test
  void lockKey_thatChanges_wakesTheFirstAfterItsPatience_allIfThereAreSeveralNames() {
    refused(TestNodes.held(20_000));
    queued(Code.HELD, 20_000, 0);
    wait.onLockKey(false, now);
    assertThat(delay()).isEqualTo(PATIENCE);
    wait.onLockKey(true, now);
    assertThat(delay()).isEqualTo(2 * MILLI);
    assertThat(wakes()).isEqualTo(WakeUp.HINT);
  }

  @Test
  void lockKey_thatChanges_doesNotWakeTheSecond() {
    refused(TestNodes.held(20_000));
    queued(Code.HELD, 20_000, 1);
    long before = delay();
    wait.onLockKey(false, now);
    assertThat(delay()).isEqualTo(before);
  }

  @Test
  void minimumHold_isNotEndedByAHint() {
    wait.keepTaken(now + 50 * MILLI);
    wait.onReleaseHint(false, now);
    assertThat(delay()).isEqualTo(50 * MILLI);
    assertThat(wakes()).isEqualTo(WakeUp.PAUSE);
  }

  @Test
  void homeNode_thatFailedToQueue_isAskedAgainAfterAPause() {
    wait.notQueued(request(), now);
    assertThat(delay()).isEqualTo(MILLI);
    assertThat(nodeToQueueAt(false)).isNotEqualTo(-1);
    wait.notQueued(request(), now);
    assertThat(delay()).as("twice as long").isEqualTo(2 * MILLI);
    assertThat(nodeToQueueAt(false)).as("all").isEqualTo(-1);
  }

  @Test
  void homeNode_thatIsSilent_isPassedOver() {
    wait.enter(request());
    wait.noReply(request());
    assertThat(nodes.knowledge(home).hung()).isTrue();
    assertThat(nodeToQueueAt(false)).isNotEqualTo(home).isNotEqualTo(-1);
  }

  @Test
  void patienceWithTheHomeNode_isMostOfTheNodeTimeout_inFairModeOnly() {
    assertThat(homeNode.patienceWith(home)).isEqualTo(10 * MILLI);
    serve(TestNodes.options().fair(true).build());
    assertThat(homeNode.patienceWith(home)).isEqualTo(75 * MILLI);
  }

  // Sleep.

  @Test
  void sleep_thatNeverBegan_isOver() {
    assertThat(wait.isAsleep(0)).isFalse();
    assertThat(wait.wake()).isNull();
    wait.onNodeStatus(home, now);
    assertThat(delay()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void sleep_isOverAtItsEnd_andSaysItsCauseOnce() {
    wait.keepTaken(100);
    now = 40;
    assertThat(delay()).isEqualTo(60);
    assertThat(wait.isAsleep(99)).isTrue();
    assertThat(wait.isAsleep(100)).isFalse();
    assertThat(wait.wake()).isEqualTo(WakeUp.PAUSE);
    assertThat(wait.wake()).isNull();
  }

  @Test
  void hint_endsASleepEarlier_neverLater() {
    wait.backOffUntil(100);
    wait.onNodeStatus(home, 100);
    assertThat(wait.wake()).isEqualTo(WakeUp.PAUSE);
    long roundTrip = homeNode.roundTripNanos();
    wait.backOffUntil(roundTrip + 100);
    wait.onNodeStatus(home, 50);
    assertThat(wait.isAsleep(roundTrip + 49)).isTrue();
    assertThat(wait.isAsleep(roundTrip + 50)).isFalse();
    assertThat(wait.wake()).isEqualTo(WakeUp.HINT);
  }

  @Test
  void sleep_thatIgnoresHints_isNotEndedByOne() {
    wait.keepTaken(100);
    wait.onNodeStatus(home, -homeNode.roundTripNanos());
    assertThat(wait.isAsleep(99)).isTrue();
  }

  // The rounds of the head.

  private static final NodeReply GRANTED = TestNodes.reply(Code.GRANTED);

  private static AcquireRound begin(Wait of, TestNodes nodes, String id, int... granting) {
    LockOptions config = of.waiter().options;
    LockRequest.Acquire request =
        new LockRequest.Acquire(TestNodes.KEYS, id, 64, config.leaseTime().toMillis(), null);
    AcquireRound r = new AcquireRound(nodes, request, config, false, -1, 0, 0);
    for (int node : granting) {
      r.answered(node);
      r.onReply(node, GRANTED, 0, 0);
    }
    of.begin(r);
    return r;
  }

  @Test
  void leftover_isSuspectedOnce_ifAQuorumBesideTheHomeNodeWasFree() {
    assertThat(wait.suspectsLeftoverAt(home)).as("no round").isFalse();
    begin(wait, nodes, "id", 0);
    assertThat(wait.suspectsLeftoverAt(home)).as("one of three").isFalse();
    begin(wait, nodes, "id", 0, 1);
    assertThat(wait.suspectsLeftoverAt(home)).isTrue();
    queued(Code.HELD, 30_000, 3);
    assertThat(delay()).as("some round trips").isLessThan(10 * MILLI);
    assertThat(wait.suspectsLeftoverAt(home)).as("once").isFalse();
  }

  @Test
  void leftover_isSuspectedByTheNextHeadToo_unlessTheVotesAreForgotten() {
    begin(wait, nodes, "id", 0, 1);
    serve(config);
    assertThat(wait.suspectsLeftoverAt(home)).as("the head left while it slept").isTrue();
    wait.granted();
    serve(config);
    assertThat(wait.suspectsLeftoverAt(home)).isTrue();
    wait.end();
    serve(config);
    assertThat(wait.suspectsLeftoverAt(home)).as("the lock was not granted").isFalse();
  }

  @Test
  void leftover_isNotSuspectedInFairMode() {
    serve(TestNodes.options().fair(true).build());
    begin(wait, nodes, "id", 0, 1);
    assertThat(wait.suspectsLeftoverAt(home)).isFalse();
  }

  @Test
  void round_thatWon_recordsLateVotesUntilTheNextHeadAsks() {
    AcquireRound won = begin(wait, nodes, "id", 0, 1);
    wait.granted();
    assertThat(wait.isNewest(won)).isTrue();
    serve(config);
    assertThat(wait.isNewest(won)).isFalse();
  }

  @Test
  void placeThatAHintGaveWithoutAHead_isForgottenByTheNextHead() {
    wait.end();
    wait.onTurnBefore(now); // The watch key was written, and no head waits here.
    wait.end();
    wait.onReleaseHint(false, now);
    wait.end();
    serve(config);
    AcquireRound r = nodes.round(config, now, TestNodes.reply(Code.FAILED), 0, 1, 2);
    wait.begin(r);
    wait.refused(r, now);
    wait.onNodeStatus(0, now);
    wakes();

    assertThat(wait.isAtTurn()).isFalse();
  }
}
