package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireVerdict;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LeaseExtenderTest {
  private static final long MILLI = TestNodes.MILLI;
  private static final long START = 10_000 * MILLI;
  private static final long ALL = 0b111;
  private static final Effect.Ack ACK = new Effect.Ack() {};
  private static final NodeReply GRANTED = TestNodes.reply(Code.GRANTED);
  private static final NodeReply NO_ANSWER = NodeReply.failed(1, NodeError.Kind.BUSY, "");

  private final TestNodes nodes = new TestNodes(3);
  private final List<Effect> effects = new ArrayList<>();
  private HeldLease lease;
  private LeaseExtender extender;
  private long now = START;

  /** What the next random number is: 0 makes an interval the longest. */
  private double chance;

  private final class Chance implements Randomness {
    @Override
    public double next() {
      return chance;
    }

    @Override
    public String leaseId() {
      throw new AssertionError("no lease id is needed");
    }
  }

  /** The lease time is one second, of which the drift takes 12 ms. */
  @BeforeEach
  void hold() {
    hold(TestNodes.options().drift(Duration.ofMillis(12)));
  }

  private void hold(LockOptions.Builder options) {
    hold(options, 0, 1, 2);
  }

  private void hold(LockOptions.Builder options, int... voters) {
    LockOptions config = options.build();
    AcquireRound won = nodes.round(config, now, GRANTED, voters);
    assertThat(won.verdict()).isEqualTo(AcquireVerdict.ACQUIRED);
    lease = new HeldLease(new Grant(won, config), nodes, new Chance(), effects);
    extender = lease.extender;
  }

  private <T extends Effect> List<T> take(Class<T> type) {
    List<T> taken = new ArrayList<>();
    for (Effect effect : effects) {
      if (type.isInstance(effect)) {
        taken.add(type.cast(effect));
      }
    }
    effects.clear();
    return taken;
  }

  private Effect.Send sent() {
    List<Effect.Send> sent = take(Effect.Send.class);
    assertThat(sent).hasSize(1);
    return sent.get(0);
  }

  private void nothingIsSent() {
    assertThat(take(Effect.Send.class)).isEmpty();
  }

  private static long ttl(Effect.Send send) {
    return ((LockRequest.Extend) send.request()).ttlMillis();
  }

  private @Nullable LeaseEnd reply(Effect.Send send, NodeReply reply, int... from) {
    LeaseEnd end = null;
    for (int node : from) {
      ExtendRound round = (ExtendRound) send.exchange();
      assertThat(round.answered(node)).isTrue();
      end = extender.onReply(round, node, reply, now, now / MILLI);
    }
    return end;
  }

  private @Nullable LeaseEnd reply(Effect.Send send, Code code, int... from) {
    return reply(send, TestNodes.reply(code), from);
  }

  private void passTo(long millis) {
    now = START + millis * MILLI;
    assertThat(extender.onTimer(now, now / MILLI)).isNull();
  }

  /** When the timer is to be called, in milliseconds since the start; −1 for never. */
  private long wakesAt() {
    NextWake wake = new NextWake(now);
    extender.deadlines(wake);
    long delay = wake.delayNanos();
    return delay == Long.MAX_VALUE ? -1 : (now + delay - START) / MILLI;
  }

  private void extendNow() {
    extender.extendNow(ACK, now, now / MILLI);
  }

  // Extension.

  @Test
  void extension_isDueAThirdOfTheLeaseTimeAfterTheLastWasSent() {
    assertThat(wakesAt()).isEqualTo(333);
    passTo(333);
    nothingIsSent();
    passTo(334);
    Effect.Send send = sent();
    assertThat(send.mask()).isEqualTo(ALL);
    assertThat(ttl(send)).isEqualTo(1000);
    now += 50 * MILLI;
    assertThat(reply(send, Code.EXTENDED, 0, 1)).isNull();
    assertThat(take(Effect.Extended.class)).hasSize(1);
    assertThat(lease.validity().deadlineNanos()).isEqualTo(START + (334 + 988) * MILLI);
    assertThat(wakesAt()).isEqualTo(334 + 333);
  }

  /** A lease of 30 s waits for a second, in which shorter leases of the client had no place. */
  @Test
  void extension_duringWhichANodeComesBack_orACheckBecomesDue_waitsForOneNodeTimeout() {
    hold(TestNodes.options().leaseTime(Duration.ofSeconds(30)));
    nodes.state(1, NodeStatus.State.CONNECTING, 1);
    passTo(10_000);
    reply(sent(), Code.EXTENDED, 0);
    assertThat(wakesAt()).isEqualTo(11_000);
    nodes.state(1, NodeStatus.State.VOTING, 2);
    extender.onWorks(1, now);
    assertThat(wakesAt()).isEqualTo(10_100);

    passTo(10_101);
    take(Effect.class);
    passTo(13_200);
    reply(sent(), Code.EXTENDED, 0);
    assertThat(wakesAt()).isEqualTo(14_200);
    extender.onInvalidation(0);
    assertThat(wakesAt()).isEqualTo(13_300);
  }

  @Test
  void extension_withoutAQuorum_isRepeatedAfterATenthOfTheLeaseTime_orSoonerTowardsTheEnd() {
    passTo(400);
    Effect.Send send = sent();
    assertThat(reply(send, NO_ANSWER, 0, 1, 2)).isNull();
    assertThat(take(Effect.ExtendFailed.class))
        .extracting(Effect.ExtendFailed::remainingNanos)
        .containsExactly(588 * MILLI);
    assertThat(wakesAt()).isEqualTo(500);
    passTo(900);
    reply(sent(), NO_ANSWER, 0, 1, 2);
    assertThat(wakesAt()).as("half of the 88 ms that are left").isEqualTo(944);
    passTo(980);
    reply(sent(), NO_ANSWER, 0, 1, 2);
    assertThat(wakesAt()).as("after at least 5 ms").isEqualTo(985);
  }

  @Test
  void extension_isCountedUpToItsDeadline_andWakesOnceThatHasPassed() {
    passTo(400);
    Effect.Send send = sent();
    passTo(500);
    assertThat(take(Effect.ExtendFailed.class)).isEmpty();
    reply(send, Code.EXTENDED, 0, 1);
    assertThat(take(Effect.Extended.class)).hasSize(1);
    passTo(800);
    NextWake wake = new NextWake(now);
    extender.deadlines(wake);
    assertThat(wake.delayNanos()).isEqualTo(100 * MILLI + 1);
    now += wake.delayNanos();
    extender.onTimer(now, now / MILLI);
    assertThat(take(Effect.ExtendFailed.class)).hasSize(1);
  }

  @Test
  void extension_isNotRepeatedWhileARoundIsUnderWay() {
    passTo(300);
    extendNow();
    sent();
    passTo(350);
    extendNow();
    nothingIsSent();
  }

  @Test
  void extension_whoseRepliesAreLaterThanTheNodeTimeout_succeeds_alsoForItsCallers() {
    hold(TestNodes.options().autoExtend(false).leaseTime(Duration.ofSeconds(20)));
    passTo(50);
    extendNow();
    Effect.Send send = sent();
    assertThat(wakesAt()).as("a tenth of the lease time, but a second at most").isEqualTo(1_050);
    passTo(1_050);
    reply(send, Code.EXTENDED, 0, 1);
    assertThat(take(Effect.Settle.class))
        .containsExactly(new Effect.Settle(ACK, Effect.Result.DONE));
  }

  @Test
  void extension_thatIsAskedForDuringACheck_isMade_beforeTheCallerIsTold() {
    hold(TestNodes.options().autoExtend(false));
    extender.onInvalidation(1);
    passTo(100);
    Effect.Send check = sent();
    extendNow();
    reply(check, Code.EXTENDED, 0, 1);
    Effect.Send extension = sent();
    assertThat(ttl(extension)).isEqualTo(1000);
    reply(extension, Code.EXTENDED, 0, 1);
    assertThat(take(Effect.Settle.class))
        .containsExactly(new Effect.Settle(ACK, Effect.Result.DONE));
  }

  /** As many leases as may be extended at once. */
  private List<ExtendSlot> others() {
    List<ExtendSlot> begun = new ArrayList<>();
    long deadline = now + 100 * MILLI;
    ExtendSlot next = new ExtendSlot(TestNodes.KEYS, 100 * MILLI, 100 * MILLI);
    while (nodes.extensions().ask(next, deadline, deadline, now).contains(next)) {
      begun.add(next);
      next = new ExtendSlot(TestNodes.KEYS, 100 * MILLI, 100 * MILLI);
    }
    nodes.extensions().giveUp(next, now);
    return begun;
  }

  @Test
  void extension_whileTooManyAreUnderWay_waitsForItsTurn_andAsksAtHalfOfWhatIsLeft() {
    now = START + 400 * MILLI;
    List<ExtendSlot> others = others();
    passTo(400);
    nothingIsSent();
    assertThat(wakesAt()).as("588 ms are left").isEqualTo(694);
    assertThat(nodes.extensions().giveUp(others.get(0), now)).hasSize(1);
    extender.onAdmitted(now, now / MILLI);
    assertThat(sent().mask()).isEqualTo(ALL);
    extender.onAdmitted(now, now / MILLI);
    nothingIsSent();
  }

  @Test
  void extension_thatHasWaitedLong_asksAgain_andTakesTheSlotOfAPausedThread() {
    now = START + 400 * MILLI;
    others();
    passTo(400);
    nothingIsSent();
    passTo(694);
    assertThat(sent().mask()).isEqualTo(ALL);
  }

  @Test
  void lease_thatEndsWhileItsExtensionWaits_leavesNothing() {
    now = START + 400 * MILLI;
    List<ExtendSlot> others = others();
    passTo(400);
    extendNow();
    assertThat(nodes.extensions().waiting()).isEqualTo(1);
    lease.finish(LeaseEnd.RELEASED);
    extender.cease(now);
    assertThat(take(Effect.Settle.class))
        .containsExactly(new Effect.Settle(ACK, new Effect.Result(null, LeaseEnd.RELEASED)));
    assertThat(nodes.extensions().waiting()).isZero();
    assertThat(nodes.extensions().underWay()).isEqualTo(others.size());
  }

  @Test
  void lease_thatEndsDuringItsExtension_letsAnotherLeaseBegin() {
    passTo(400);
    sent();
    others();
    ExtendSlot waits = new ExtendSlot(TestNodes.KEYS, 100 * MILLI, 100 * MILLI);
    assertThat(nodes.extensions().ask(waits, now + MILLI, now + MILLI, now)).isEmpty();
    extender.cease(now);
    assertThat(take(Effect.Admit.class)).containsExactly(new Effect.Admit(TestNodes.KEYS));
  }

  @Test
  void intervals_areShortenedAtRandom_byAFifthAtMost() {
    chance = 0.5;
    passTo(400);
    reply(sent(), Code.EXTENDED, 0, 1);
    assertThat(wakesAt()).isEqualTo(400 + 300);
    passTo(700);
    reply(sent(), NO_ANSWER, 0, 1, 2);
    assertThat(wakesAt()).isEqualTo(700 + 90);
  }

  // The cap.

  @Test
  void lease_thatReachesToTheCap_isExtendedOnlyForACaller_whoLearnsWhetherTheNodesConfirmIt() {
    hold(TestNodes.options().drift(Duration.ofMillis(12)).holdCap(Duration.ofMillis(1200)));
    passTo(400);
    Effect.Send last = sent();
    assertThat(ttl(last)).as("validity ends at the cap").isEqualTo(812);
    reply(last, Code.EXTENDED, 0, 1, 2);
    effects.clear();
    passTo(734);
    nothingIsSent();
    assertThat(wakesAt()).isEqualTo(1200);
    extendNow();
    Effect.Send send = sent();
    assertThat(ttl(send)).as("what is left, and the drift").isEqualTo(478);
    reply(send, Code.EXTENDED, 0, 1);
    assertThat(take(Effect.Settle.class)).hasSize(1);
    assertThat(lease.validity().deadlineNanos()).isEqualTo(START + 1200 * MILLI);
  }

  // Repair.

  /** The early extension of these nodes, 20 ms after it was known that they lack the grant. */
  private Effect.Send repair(long mask) {
    nothingIsSent();
    long due = (now - START) / MILLI + 20;
    assertThat(wakesAt()).isEqualTo(due);
    passTo(due);
    Effect.Send repair = sent();
    assertThat(repair.mask()).isEqualTo(mask);
    return repair;
  }

  private void failsLate(int node) {
    extender.onLateVote(node, NO_ANSWER, now);
  }

  @Test
  void nodesThatWereNotAsked_areExtendedEarly() {
    nodes.state(2, NodeStatus.State.QUARANTINED, 1);
    hold(TestNodes.options(), 0, 1);
    nodes.join();
    extender.begin(now);
    assertThat(ttl(repair(0b1100))).isEqualTo(1000);
  }

  @Test
  void nodesThatFailedLate_areExtendedEarly_once_butNotForAMissingPermission() {
    failsLate(1);
    failsLate(2);
    extender.onLateVote(0, NodeReply.failed(1, NodeError.Kind.NO_PERMISSION, ""), now);
    reply(repair(0b110), NO_ANSWER, 1);
    long over = 20 + nodes.patience(0b110) / MILLI;
    assertThat(wakesAt()).as("one nanosecond after the usual time").isEqualTo(over);
    passTo(over + 1);
    assertThat(nodes.extensions().underWay()).as("its turn is over").isZero();
    assertThat(effects).isEmpty();
    assertThat(wakesAt()).as("the extension").isEqualTo(333);
  }

  @Test
  void earlyExtension_ofALeaseThatIsNotExtended_writesWhatIsLeft_andMovesNoDeadline() {
    hold(TestNodes.options().drift(Duration.ofMillis(12)).autoExtend(false));
    passTo(500);
    failsLate(1);
    Effect.Send repair = repair(0b010);
    assertThat(ttl(repair)).isEqualTo(480);
    assertThat(reply(repair, Code.REPAIRED, 1)).isNull();
    assertThat(effects).isEmpty();
    assertThat(nodes.extensions().underWay()).isZero();
    assertThat(lease.validity().deadlineNanos()).isEqualTo(START + 988 * MILLI);
    assertThat(wakesAt()).isEqualTo(-1);
  }

  @Test
  void earlyExtension_waitsForItsTurn() {
    failsLate(1);
    now = START + 20 * MILLI;
    List<ExtendSlot> others = others();
    passTo(20);
    nothingIsSent();
    assertThat(wakesAt()).as("the extension is due").isEqualTo(333);
    nodes.extensions().giveUp(others.get(0), now);
    extender.onAdmitted(now, now / MILLI);
    assertThat(sent().mask()).isEqualTo(0b010);
  }

  @Test
  void extension_isNotDelayedByAnEarlyExtensionWithoutAReply() {
    failsLate(1);
    Effect.Send repair = repair(0b010);
    extendNow();
    Effect.Send extend = sent();
    reply(repair, Code.REPAIRED, 1);
    reply(extend, Code.EXTENDED, 0, 1, 2);
    assertThat(take(Effect.Settle.class)).hasSize(1);
    assertThat(nodes.extensions().underWay()).isZero();
  }

  @Test
  void extension_thatFollowsAnEarlyOneInAPausedThread_keepsItsPlaceAmongOthers() {
    failsLate(1);
    Effect.Send repair = repair(0b010);
    now += 300 * MILLI;
    others();
    extendNow();
    reply(repair, Code.REPAIRED, 1);
    assertThat(nodes.extensions().waiting()).isEqualTo(1);
  }

  @Test
  void earlyExtension_waitsBehindAnExtensionThatIsDueLater_untilItIsDueItself() {
    failsLate(1);
    now = START + 20 * MILLI;
    List<ExtendSlot> others = others();
    passTo(20);
    ExtendSlot longer = new ExtendSlot(TestNodes.KEYS, 100 * MILLI, 100 * MILLI);
    nodes.extensions().ask(longer, now + 60_000 * MILLI, now + 60_000 * MILLI, now);
    nodes.extensions().giveUp(others.get(0), now);
    assertThat(longer.isTaken()).isTrue();
    nothingIsSent();
    extendNow();
    nodes.extensions().giveUp(others.get(1), now);
    extender.onAdmitted(now, now / MILLI);
    assertThat(sent().mask()).isEqualTo(ALL);
  }

  @Test
  void earlyExtension_ofANodeThatHangs_keepsItsTurnForAsLongAsTheNodeUsuallyTakes() {
    failsLate(1);
    Effect.Send early = repair(0b010);
    long patience = nodes.patience(0b010);
    assertThat(patience).isLessThan(100 * MILLI);
    now += patience + 1;
    extender.onTimer(now, now / MILLI);
    assertThat(nodes.extensions().underWay()).isZero();
    reply(early, Code.LOST, 1);
    assertThat(extender.isWithoutDoubt()).as("a late reply is heard").isFalse();
  }

  @Test
  void nodeThatReconnectsBetweenItsVoteAndTheGrant_isExtendedEarly() {
    nodes.state(2, NodeStatus.State.VOTING, 7);
    extender.begin(now);
    passTo(20);
    assertThat(sent().mask()).isEqualTo(0b100);
  }

  @Test
  void restartedNode_thatTellsOfAllItsKeys_isExtendedAlone_andCastsNoDoubt() {
    nodes.state(1, NodeStatus.State.VOTING, 7);
    extender.onWorks(1, now);
    extender.onInvalidation(1);
    passTo(0);
    assertThat(sent().mask()).isEqualTo(0b010);
    extender.onInvalidation(1);
    assertThat(extender.isWithoutDoubt()).isTrue();
    passTo(30);
    nothingIsSent();
  }

  @Test
  void lease_thatIsBrokenWhileAllNodesReconnect_isCheckedOnceTheySayThatItIsLost() {
    NodeReply lost = NodeReply.of(Code.LOST, 7, 0, 0);
    for (int node = 0; node < 3; node++) {
      nodes.state(node, NodeStatus.State.VOTING, 7);
      extender.onWorks(node, now);
    }
    passTo(0);
    Effect.Send early = sent();
    for (int node = 0; node < 3; node++) {
      extender.onInvalidation(node);
    }
    reply(early, lost, 0);
    passTo(60);
    nothingIsSent();
    reply(early, lost, 1);
    passTo(200);
    assertThat(reply(sent(), lost, 0, 1)).isEqualTo(LeaseEnd.LOST);
  }

  @Test
  void earlyExtension_ofANodeThatErrs_takesNoTurn_butTheNextExtensionGoesToItToo() {
    failsLate(1);
    nodes.status(1, new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "by the test", true, null));
    passTo(20);
    nothingIsSent();
    assertThat(nodes.extensions().underWay()).isZero();
    extendNow();
    assertThat(sent().mask()).isEqualTo(ALL);
  }

  /**
   * Seed 945057 of SHELL_NORMAL: 22 changes of status waited in the queue while its thread was
   * paused.
   */
  @Test
  void eventsThatTellOfOneConnection_extendAtOnce_onThatNodeAlone() {
    nodes.state(1, NodeStatus.State.VOTING, 7);
    for (int i = 0; i < 22; i++) {
      extender.onWorks(1, now);
    }
    passTo(0);
    reply(sent(), NodeReply.failed(7, NodeError.Kind.BUSY, ""), 1);
    extender.onWorks(1, now);
    passTo(0);
    assertThat(sent().mask()).as("the node executes again").isEqualTo(0b010);
  }

  // Checks.

  @Test
  void invalidation_isProbedAfter20Millis_withTheLeaseTimeThatIsLeft() {
    hold(TestNodes.options().drift(Duration.ofMillis(12)).autoExtend(false));
    assertThat(wakesAt()).as("it is not extended").isEqualTo(-1);
    extender.onInvalidation(1);
    assertThat(wakesAt()).isEqualTo(20);
    passTo(19);
    nothingIsSent();
    passTo(100);
    Effect.Send check = sent();
    assertThat(check.mask()).isEqualTo(ALL);
    assertThat(ttl(check)).as("a check extends nothing").isEqualTo(900);
    assertThat(wakesAt()).as("its timeout").isEqualTo(200);
  }

  @Test
  void invalidation_fromANodeWhoseVoteIsAwaited_isNotProbed() {
    hold(TestNodes.options(), 0, 1);
    extender.onInvalidation(2);
    assertThat(extender.isWithoutDoubt()).isTrue();
    extender.onInvalidation(1);
    assertThat(extender.isWithoutDoubt()).isFalse();
  }

  @Test
  void vote_thatIsAwaited_isGivenUpAtTheNodeTimeout() {
    hold(TestNodes.options().autoExtend(false), 0, 1);
    assertThat(wakesAt()).isEqualTo(100);
    passTo(100);
    assertThat(nodes.knowledge(2).silent()).isTrue();
    assertThat(wakesAt()).isEqualTo(-1);
    extender.onInvalidation(2);
    assertThat(wakesAt()).as("checked").isEqualTo(100);
  }

  @Test
  void nodeThatLacksTheGrant_isNoDoubt_butItsInvalidationOrLossIs() {
    failsLate(1);
    assertThat(extender.isWithoutDoubt()).isTrue();
    Effect.Send repair = repair(0b010);
    assertThat(extender.isWithoutDoubt()).isTrue();
    extender.onInvalidation(1);
    assertThat(extender.isWithoutDoubt()).isFalse();
    passTo(21);
    reply(sent(), Code.EXTENDED, 0, 1, 2);
    assertThat(extender.isWithoutDoubt()).isTrue();
    reply(repair, Code.LOST, 1);
    assertThat(extender.isWithoutDoubt()).isFalse();
    assertThat(wakesAt()).as("the next extension").isEqualTo(21 + 333);
  }

  @Test
  void loss_onANode_isInDoubtUntilTheNodeStoresTheLeaseAgain() {
    extendNow();
    reply(sent(), Code.LOST, 1);
    passTo(101);
    effects.clear();
    assertThat(extender.isWithoutDoubt()).isFalse();
    extendNow();
    Effect.Send again = sent();
    reply(again, NO_ANSWER, 1);
    reply(again, Code.EXTENDED, 0, 2);
    assertThat(extender.isWithoutDoubt()).as("no reply is not a reply").isFalse();
    extendNow();
    reply(sent(), Code.REPAIRED, 1, 0, 2);
    assertThat(extender.isWithoutDoubt()).isTrue();
  }

  @Test
  void checks_thatFindTheKeyLost_followAtGrowingIntervals_butOnlyForThatNode() {
    extendNow();
    Effect.Send send = sent();
    reply(send, Code.LOST, 1);
    reply(send, Code.EXTENDED, 0, 2);
    extender.onInvalidation(1);
    assertThat(wakesAt()).as("twice 20 ms").isEqualTo(40);
    extender.onInvalidation(2);
    assertThat(wakesAt()).as("a node that had stored it").isEqualTo(20);
  }
}
