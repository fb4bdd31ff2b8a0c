package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PendingReleasesTest {
  private static final long MILLI = TestNodes.MILLI;
  private static final long LIFE = 1000 * MILLI;
  private static final long ALL = 0b111;
  private static final Effect.Ack ACK = new Effect.Ack() {};
  private static final NodeReply RELEASED = TestNodes.reply(Code.RELEASED);
  private static final NodeReply OVERLOADED =
      NodeReply.failed(1, NodeError.Kind.OVERLOADED, "by the test");
  private static final LockRequest.Acquire ACQUIRE =
      new LockRequest.Acquire(TestNodes.KEYS, "a", 64, 1000, null);

  private final TestNodes nodes = new TestNodes(3);
  private final List<Effect> effects = new ArrayList<>();
  private final PendingReleases releases = new PendingReleases(nodes, effects);
  private long now = 10_000 * MILLI;

  private static LockRequest.Release release(String id) {
    return new LockRequest.Release(TestNodes.KEYS, id, 64, true, 0, null);
  }

  /** A lease that all nodes store. */
  private HeldLease lease(String id, long timeoutMillis) {
    Duration timeout = Duration.ofMillis(timeoutMillis);
    LockOptions config = TestNodes.options().nodeTimeout(timeout).build();
    LockRequest.Acquire request =
        new LockRequest.Acquire(TestNodes.KEYS, id, 64, config.leaseTime().toMillis(), null);
    AcquireRound won = new AcquireRound(nodes, request, config, false, -1, now, now / MILLI);
    return new HeldLease(new Grant(won, config), nodes, new TestNodes.Middle(), new ArrayList<>());
  }

  private Effect.Send sent() {
    List<Effect.Send> sent = new ArrayList<>();
    for (Effect effect : effects) {
      if (effect instanceof Effect.Send send) {
        sent.add(send);
      }
    }
    effects.clear();
    assertThat(sent).hasSize(1);
    return sent.get(0);
  }

  private void reply(Effect.Send send, NodeReply reply, int... from) {
    PendingRelease e = (PendingRelease) send.exchange();
    for (int node : from) {
      assertThat(e.answered(node)).isTrue();
      releases.onReply(e, node, reply, now);
    }
  }

  @Test
  void release_isPendingUntilEachNodeHasReplied() {
    releases.add(release("a"), ALL, LIFE, now);
    Effect.Send send = sent();
    assertThat(send.mask()).isEqualTo(ALL);
    reply(send, RELEASED, 0, 1);
    assertThat(releases.pending()).isEqualTo(1);
    reply(send, RELEASED, 2);
    assertThat(releases.isEmpty()).isTrue();
  }

  @Test
  void ack_isSettledByAQuorum() {
    releases.release(lease("a", 100), 0, ACK, now);
    Effect.Send send = sent();
    reply(send, RELEASED, 0);
    assertThat(effects).isEmpty();
    reply(send, TestNodes.reply(Code.NOT_OWNER), 1);
    assertThat(effects).containsExactly(new Effect.Settle(ACK, Effect.Result.DONE));
  }

  @Test
  void ack_withoutAQuorumInTime_failsAndTheReleaseStaysPending() {
    releases.release(lease("a", 100), 0, ACK, now);
    effects.clear();
    now += 100 * MILLI;
    releases.onTimer(now);
    assertThat(effects)
        .singleElement()
        .isInstanceOfSatisfying(
            Effect.Settle.class, settle -> assertThat(settle.result().failure()).isNotNull());
    assertThat(releases.pending()).isEqualTo(3);
  }

  @Test
  void release_ofANodeThatIsDown_isSentOnItsNextConnection() {
    nodes.state(1, NodeStatus.State.CONNECTING, 1);
    releases.add(release("a"), ALL, LIFE, now);
    assertThat(sent().mask()).isEqualTo(0b101);
    nodes.state(1, NodeStatus.State.VOTING, 2);
    releases.onWorks(1, now);
    assertThat(sent().mask()).isEqualTo(0b010);
  }

  @Test
  void node_thatDropsBeforeItIsSentWhatWaited_getsItOnItsNextConnection() {
    nodes.state(1, NodeStatus.State.CONNECTING, 1);
    releases.add(release("a"), 0b010, LIFE, now);
    releases.onWorks(1, now);
    assertThat(effects).as("it has dropped again").isEmpty();
    nodes.state(1, NodeStatus.State.VOTING, 3);
    releases.onWorks(1, now);
    assertThat(sent().mask()).isEqualTo(0b010);
  }

  @Test
  void release_thatFails_isRepeated() {
    releases.add(release("a"), 0b001, LIFE, now);
    reply(sent(), OVERLOADED, 0);
    NextWake wake = new NextWake(now);
    releases.deadlines(wake);
    assertThat(wake.delayNanos()).isLessThan(100 * MILLI);
    now += wake.delayNanos();
    releases.onTimer(now);
    assertThat(sent().mask()).isEqualTo(0b001);
  }

  @Test
  void release_ofKeysThatHaveExpired_isForgotten_alsoOnItsWay() {
    nodes.state(1, NodeStatus.State.CONNECTING, 1);
    releases.add(release("a"), 0b011, LIFE, now);
    Effect.Send send = sent();
    now += LIFE;
    releases.onTimer(now);
    assertThat(releases.isEmpty()).isTrue();
    reply(send, OVERLOADED, 0);
    nodes.state(1, NodeStatus.State.VOTING, 2);
    releases.onWorks(1, now);
    releases.onTimer(now + LIFE);
    assertThat(effects).as("not repeated").isEmpty();
    assertThat(nodes.pending).startsWith(0, 0);
  }

  @Test
  void release_thatFailed_isRepeated_thoughTheNodeNeverRepliesToTheOneBeforeIt() {
    releases.add(release("a"), 0b001, 30 * MILLI, now);
    releases.add(release("b"), 0b001, LIFE, now);
    List<Effect> both = List.copyOf(effects);
    effects.clear();
    both.forEach(send -> reply((Effect.Send) send, OVERLOADED, 0));
    releases.onTimer(now + 20 * MILLI);
    assertThat(sent().request()).isEqualTo(release("a"));
    releases.onTimer(now + 60 * MILLI);
    assertThat(sent().request()).isEqualTo(release("b"));
  }

  private ExtendSlot releaseExpiredBehindExtensions() {
    ExtendSlot extension = new ExtendSlot(TestNodes.KEYS, 100 * MILLI, 100 * MILLI);
    for (int i = 0; i < 4; i++) {
      extension = new ExtendSlot(TestNodes.KEYS, 100 * MILLI, 100 * MILLI);
      nodes.extensions().ask(extension, now, now + LIFE, now);
    }
    HeldLease expired = nodes.lease(TestNodes.options().build(), now);
    expired.finish(LeaseEnd.EXPIRED);
    releases.release(expired, 0, null, now);
    return extension;
  }

  @Test
  void release_whoseTurnPassedWhileItsThreadWasPaused_isSentAtAnother() {
    ExtendQueue extensions = nodes.extensions();
    extensions.giveUp(releaseExpiredBehindExtensions(), now);
    now += 60_000 * MILLI;
    ExtendSlot other = new ExtendSlot(TestNodes.KEYS, 100 * MILLI, 100 * MILLI);
    extensions.ask(other, now, now + LIFE, now);
    releases.onAdmitted(now);
    assertThat(sent().mask()).isEqualTo(ALL);
  }

  /** SHELL_SETS seeds 17671 and 25642. */
  @Test
  void release_ofAnExpiredLease_isSentAtItsTurn_onceAndToAllNodes() {
    ExtendQueue extensions = nodes.extensions();
    ExtendSlot extension = releaseExpiredBehindExtensions();
    nodes.state(1, NodeStatus.State.VOTING, 2);
    releases.onWorks(1, now);
    releases.onAdmitted(now);
    assertThat(effects).as("it waits for the extensions").isEmpty();
    extensions.giveUp(extension, now);
    releases.onAdmitted(now);
    Effect.Send send = sent();
    assertThat(send.mask()).isEqualTo(ALL);
    reply(send, OVERLOADED, 0);
    releases.onAdmitted(now);
    assertThat(effects).as("another release has its turn").isEmpty();
    assertThat(extensions.underWay()).isEqualTo(4);
    reply(send, RELEASED, 1, 2);
    assertThat(extensions.underWay()).as("it gives its turn back").isEqualTo(3);
  }

  @Test
  void refusedRound_isRolledBack_exceptOnASingleNodeThatHasRefused() {
    LockOptions config = TestNodes.options().build();
    releases.rollBack(nodes.round(config, now, TestNodes.held(200), 0, 1, 2), now);
    assertThat(sent().mask()).isEqualTo(ALL);
    TestNodes one = new TestNodes(1);
    PendingReleases ofOne = new PendingReleases(one, effects);
    ofOne.rollBack(one.round(config, now, TestNodes.held(200), 0), now);
    assertThat(effects).isEmpty();
    ofOne.rollBack(one.round(config, now, TestNodes.held(200)), now);
    assertThat(sent().mask()).as("it has not replied").isEqualTo(0b001);
  }

  @Test
  void lateGrant_withoutAPendingRelease_isUndone() {
    releases.undo(ACQUIRE, false, 0b100, now);
    assertThat(sent().mask()).isEqualTo(0b100);
  }

  @Test
  void lateGrant_behindWhichTheReleaseWasSent_needsNoOther() {
    releases.add(release("a"), ALL, LIFE, now);
    effects.clear();
    releases.undo(ACQUIRE, false, 0b100, now);
    assertThat(effects).isEmpty();
  }

  @Test
  void pendingReleases_areCountedForEachNode() {
    releases.add(release("a"), 0b011, LIFE, now);
    assertThat(nodes.pending).startsWith(1, 1, 0);
    reply(sent(), RELEASED, 0);
    assertThat(nodes.pending).startsWith(0, 1, 0);
  }

  @Test
  void tooManyOfTheClient_releaseIsSent_andGivenUpAtItsFirstReply() {
    releases.add(release("a"), 0b011, LIFE, now);
    effects.clear();
    nodes.tooManyPending = true;
    releases.add(release("b"), 0b011, LIFE, now);
    assertThat(nodes.pending).startsWith(2, 2, 0);
    reply(sent(), OVERLOADED, 0);
    assertThat(nodes.pending).as("a is kept").startsWith(1, 1, 0);
  }

  @Test
  void tooManyOfTheClient_lockWithASingleRelease_givesItUpOnceTheNodesHaveReplied() {
    HeldLease lease = lease("a", 100);
    nodes.state(2, NodeStatus.State.CONNECTING, 1);
    nodes.tooManyPending = true;
    releases.release(lease, 0, ACK, now);
    Effect.Send send = sent();
    reply(send, RELEASED, 0);
    assertThat(nodes.pending).as("a caller waits for it").startsWith(0, 1, 1);
    reply(send, RELEASED, 1);
    assertThat(nodes.pending).as("a quorum has confirmed").startsWith(0, 0, 0);
    assertThat(releases.isEmpty()).isTrue();
  }

  @Test
  void tooManyOfTheClient_releaseThatNoQuorumConfirms_isGivenUpWhenItsCallerIsTold() {
    HeldLease lease = lease("a", 100);
    nodes.state(1, NodeStatus.State.CONNECTING, 1);
    nodes.state(2, NodeStatus.State.CONNECTING, 1);
    nodes.tooManyPending = true;
    releases.release(lease, 0, ACK, now);
    assertThat(nodes.pending).as("a caller waits for it").startsWith(1, 1, 1);
    releases.onTimer(now + 100 * MILLI);
    assertThat(nodes.pending).startsWith(0, 0, 0);
  }

  @Test
  void deadlines_ofAReleaseThatNoNodeCanGet_areTheEndOfItsKeys() {
    nodes.state(0, NodeStatus.State.CONNECTING, 1);
    releases.add(release("a"), 0b001, LIFE, now);
    NextWake wake = new NextWake(now);
    releases.deadlines(wake);
    assertThat(wake.delayNanos()).isEqualTo(LIFE);
  }

  @Test
  void deadlines_ofTwoReleases_areTheEarlierAckFirst() {
    releases.release(lease("a", 100), 0, ACK, now);
    releases.release(lease("b", 60), 0, ACK, now);
    NextWake wake = new NextWake(now);
    releases.deadlines(wake);
    assertThat(wake.delayNanos()).isEqualTo(60 * MILLI);
  }

  @Test
  void release_afterTheClientClosed_isLeftToExpire() {
    releases.add(release("a"), 0b011, LIFE, now);
    reply(sent(), NodeReply.failed(1, NodeError.Kind.CLOSED, ""), 0);
    assertThat(nodes.pending).startsWith(0, 1, 0);
  }

  @Test
  void release_thatFailedOnAnOldConnection_isSentOnTheNewOneAtOnce() {
    releases.add(release("a"), 0b001, LIFE, now);
    Effect.Send send = sent();
    nodes.state(0, NodeStatus.State.VOTING, 2);
    reply(send, NodeReply.failed(1, NodeError.Kind.DISCONNECTED, ""), 0);
    assertThat(sent().mask()).isEqualTo(0b001);
  }

  @Test
  void release_thatLostItsConnection_waitsForTheNextOne() {
    releases.add(release("a"), 0b001, LIFE, now);
    Effect.Send send = sent();
    nodes.state(0, NodeStatus.State.CONNECTING, 1);
    reply(send, NodeReply.failed(1, NodeError.Kind.DISCONNECTED, ""), 0);
    releases.onTimer(now + 500 * MILLI);
    assertThat(effects).isEmpty();
    releases.onWorks(1, now);
    assertThat(effects).as("another node").isEmpty();
    nodes.state(0, NodeStatus.State.VOTING, 2);
    releases.onWorks(0, now);
    assertThat(sent().mask()).isEqualTo(0b001);
  }

  @Test
  void lateGrant_afterTheNodeConfirmed_isReleasedAgain() {
    releases.add(release("a"), 0b110, LIFE, now);
    reply(sent(), RELEASED, 2);
    releases.undo(ACQUIRE, false, 0b100, now);
    assertThat(sent().mask()).isEqualTo(0b100);
    assertThat(releases.pending()).isEqualTo(2);
  }
}
