package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WaitersTest extends MachineFixture {
  private static final NodeReply NO_ANSWER = NodeReply.failed(1, NodeError.Kind.TIMEOUT, "");

  private AcquireReport refusal() {
    List<Effect.Refuse> refused = take(Effect.Refuse.class);
    assertThat(refused).hasSize(1);
    return refused.get(0).report();
  }

  private static String left(Effect.Send send) {
    return ((LockRequest.Release) send.request()).leaveQueue() == null ? "no queue" : "the queue";
  }

  @Test
  void caller_whoFindsTheQueueFull_isTurnedAway() {
    options(TestNodes.options().queueBound(2));
    acquire();
    submit(false);
    submit(false);
    submit(false);
    AcquireReport report = refusal();
    assertThat(report.verdict()).isEqualTo(AcquireVerdict.QUEUE_FULL);
    assertThat(report.sentence()).startsWith("2 callers of this client already wait: the queue is");
    assertThat(machine.waiting()).isEqualTo(2);
  }

  @Test
  void caller_afterClose_isRefusedAndTheMachineMayRetire() {
    machine.release(acquire(), ACK, now, now / MILLI);
    reply(sent(), Code.RELEASED, 0, 1, 2);
    assertThat(machine.mayRetire(now)).as("its turn lingers").isFalse();
    machine.close(now, now / MILLI);
    submit(false);
    assertThat(refusal().verdict()).isEqualTo(AcquireVerdict.CLOSED);
    assertThat(machine.mayRetire(now)).isTrue();
  }

  @Test
  void close_whileNodesAreAsked_rollsBack() {
    submit(false);
    sent();
    submit(false);
    machine.close(now, now / MILLI);
    List<Effect> effects = List.copyOf(machine.effects());
    assertThat(sent(LockRequest.Release.class).mask()).isEqualTo(ALL);
    assertThat(effects.stream().filter(Effect.Refuse.class::isInstance)).hasSize(2);
  }

  @Test
  void close_whileQueued_leavesTheQueue() {
    queueing();
    machine.close(now, now / MILLI);
    assertThat(left(sent(LockRequest.Release.class))).isEqualTo("the queue");
  }

  @Test
  void cancel_whileQueued_leavesTheQueue_ifNoOtherCallerWaits() {
    othersWant();
    Waiter first = submit(false);
    Waiter second = submit(false);
    machine.effects().clear();
    machine.cancel(second, now, now / MILLI);
    assertThat(take(Effect.Send.class)).isEmpty();
    machine.cancel(first, now, now / MILLI);
    Effect.Send send = sent();
    assertThat(left(send)).isEqualTo("the queue");
    assertThat(send.mask()).isEqualTo(1L << HOME);
    reply(send, Code.NOT_OWNER, HOME);
    assertThat(machine.isIdle()).isTrue();
  }

  @Test
  void waiter_thatGivesUpWhileQueued_leavesTheQueue() {
    othersWant();
    submit(50, false);
    reply(sent(), reply(Code.HELD, 3), HOME);
    machine.effects().clear();
    pass(50);
    assertThat(left(sent())).isEqualTo("the queue");
  }

  @Test
  void singleTry_thatIsRefused_leavesNoPlaceBehind() {
    Effect.Send place = queueing();
    reply(place, reply(Code.HELD, 3), HOME);
    machine.effects().clear();
    pass(5000);
    assertThat(left(sent(LockRequest.Release.class))).isEqualTo("the queue");
    submit(true);
    Effect.Send acquire = sent(LockRequest.Acquire.class);
    assertThat(acquire.mask()).as("it is not queued, although others want the lock").isEqualTo(ALL);
    reply(acquire, TestNodes.held(200), 0, 1);
    assertThat(machine.waiting()).isZero();
  }

  @Test
  void headThatGivesUpWhileQueued_isToldWhatTheHomeNodeReplied() {
    Effect.Send place = queueing();
    submit(4, false);
    submit(8, false);
    pass(4);
    AcquireReport other = refusal();
    assertThat(other.verdict()).as("it was never served").isEqualTo(AcquireVerdict.HELD_LOCALLY);
    assertThat(other.votes()).isEmpty();
    reply(place, reply(Code.HELD, 3), HOME);
    machine.effects().clear();
    pass(4);
    assertThat(refusal().verdict()).as("nor was this one").isEqualTo(AcquireVerdict.HELD_LOCALLY);
    pass(4992);
    AcquireReport report = refusal();
    assertThat(report.verdict()).isEqualTo(AcquireVerdict.HELD);
    assertThat(report.votes()).hasSize(3);
  }

  @Test
  void headThatGivesUpBeforeTheHomeNodeReplies_isToldSo() {
    othersWant();
    submit(5, false);
    machine.effects().clear();
    pass(5);
    AcquireReport report = refusal();
    assertThat(report.verdict()).isEqualTo(AcquireVerdict.UNDECIDED);
    assertThat(report.votes()).hasSize(3);
  }

  @Test
  void headThatGivesUpInItsFirstRound_isToldOfThatRound() {
    submit(20, false);
    reply(sent(), TestNodes.held(200), 0);
    pass(20);
    AcquireReport report = refusal();
    assertThat(report.verdict()).isEqualTo(AcquireVerdict.UNDECIDED);
    assertThat(report.votes()).hasSize(3);
  }

  /** Only the first of them has asked the nodes. The others must not be told that nobody knows. */
  @Test
  void callersOfALockThatIsHeld_thatGiveUpTogether_areAllToldSo() {
    submit(60, false);
    submit(60, false);
    submit(80, false);
    reply(sent(), TestNodes.held(200), 1, HOME);
    reply(sent(LockRequest.Enqueue.class), reply(Code.HELD, 0), HOME);
    machine.effects().clear();
    pass(60);
    assertThat(refusals()).containsExactly(AcquireVerdict.HELD, AcquireVerdict.HELD_LOCALLY);
    pass(20);
    assertThat(refusal().verdict()).isEqualTo(AcquireVerdict.HELD_LOCALLY);
  }

  @Test
  void callersWhoseTurnCame_thatGiveUpTogether_areNotToldThatTheLockIsHeld() {
    othersWant();
    pass(100);
    submit(30, false);
    submit(30, false);
    reply(sent(), reply(Code.HELD, 0), HOME);
    machine.effects().clear();
    machine.onInvalidation(
        HOME, TestNodes.KEYS.wakeKey(TestNodes.KEYS.member("p")), now, now / MILLI);
    sent(LockRequest.Acquire.class);
    pass(30);
    assertThat(refusals()).containsExactly(AcquireVerdict.UNDECIDED, AcquireVerdict.UNDECIDED);
  }

  // An outage must not look like a lock that is held (issue 37).

  /** What one node says is no vote: it does not end an outage by itself. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void callersThatAreQueuedAfterAnOutage_areToldThatTheLockIsHeld_ifAQuorumReplies(
      boolean replies) {
    reply(queueing(), reply(Code.HELD, 0), HOME);
    pass(1);
    machine.effects().clear();
    machine.onInvalidation(
        HOME, TestNodes.KEYS.wakeKey(TestNodes.KEYS.member("p")), now, now / MILLI);
    reply(sent(LockRequest.Acquire.class), NO_ANSWER, 0, 1, HOME);
    machine.effects().clear();
    machine.onNodeStatus(HOME, now, now / MILLI);
    pass(5);
    Effect.Send place = sent(LockRequest.Enqueue.class);
    reply(place, reply(Code.HELD, 0), Long.numberOfTrailingZeros(place.mask()));
    machine.effects().clear();
    if (replies) {
      nodes.heard(0, now, now, now / 1000);
      nodes.heard(1, now, now, now / 1000);
    }
    submit(true);
    AcquireVerdict verdict = replies ? AcquireVerdict.HELD_LOCALLY : AcquireVerdict.UNAVAILABLE;
    assertThat(refusal().verdict()).isEqualTo(verdict);
  }

  @Test
  void callerBehindAHead_thatTooFewNodesAnswered_isToldSo() {
    submit(false);
    submit(60, false);
    reply(sent(), NO_ANSWER, 0, 1, 2);
    machine.effects().clear();
    pass(60);
    AcquireReport report = refusal();
    assertThat(report.verdict()).isEqualTo(AcquireVerdict.UNAVAILABLE);
    assertThat(report.votes()).hasSize(3);
    submit(true);
    assertThat(refusal().verdict()).as("single try").isEqualTo(AcquireVerdict.UNAVAILABLE);
  }

  @Test
  void callerBehindAHead_whoseFirstRoundIsUndecided_isNotToldThatTheLockIsHeld() {
    submit(false);
    submit(20, false);
    machine.effects().clear();
    pass(20);
    assertThat(refusal().verdict()).isEqualTo(AcquireVerdict.UNDECIDED);
    submit(true);
    assertThat(refusal().verdict()).as("others come first").isEqualTo(AcquireVerdict.HELD_LOCALLY);
  }

  @Test
  void callerThatWaitedForThisProcess_isToldSo_evenIfTheRoundAfterItIsUndecided() {
    options(TestNodes.options().maxHandOffs(0));
    HeldLease held = acquire();
    submit(20, false);
    pass(19);
    release(held);
    submit(1, false);
    machine.effects().clear();
    pass(1);
    assertThat(refusals())
        .containsExactly(AcquireVerdict.HELD_LOCALLY, AcquireVerdict.HELD_LOCALLY);
  }

  @Test
  void callerWithinAMinimumHold_isToldThatThisProcessKeepsTheLock() {
    options(TestNodes.options().minimumHold(java.time.Duration.ofMillis(150)));
    release(acquire());
    pass(20);
    machine.effects().clear();
    submit(30, false);
    pass(30);
    assertThat(refusal().verdict()).isEqualTo(AcquireVerdict.HELD_LOCALLY);
  }

  @Test
  void headThatGivesUpInALaterRound_isToldOfTheOneThatWasRefused() {
    submit(60, false);
    reply(sent(), NO_ANSWER, 0, 1, 2);
    machine.effects().clear();
    wake();
    sent(LockRequest.Acquire.class);
    pass(10);
    AcquireReport report = refusal();
    assertThat(report.verdict()).isEqualTo(AcquireVerdict.UNAVAILABLE);
    assertThat(report.rounds()).isEqualTo(2);
  }

  @Test
  void headThatGivesUpBetweenTwoRounds_isToldOfTheNewest() {
    submit(20, false);
    reply(sent(), NO_ANSWER, 0, 1, 2);
    machine.effects().clear();
    pass(20);
    assertThat(refusal().verdict()).isEqualTo(AcquireVerdict.UNAVAILABLE);
  }

  @Test
  void nextWaiter_sleepsOn_whenTheHeadBeforeItGivesUp() {
    othersWant();
    Waiter head = submit(false);
    Effect.Send place = sent(LockRequest.Enqueue.class);
    submit(false);
    reply(place, reply(Code.HELD, 3), HOME);
    machine.effects().clear();
    long delay = machine.delayNanos(now);
    assertThat(delay).isPositive();
    assertThat(machine.cancel(head, now, now / MILLI)).isTrue();
    assertThat(take(Effect.Send.class)).as("it knows what the head knew").isEmpty();
    assertThat(machine.delayNanos(now)).isEqualTo(delay);
  }

  @Test
  void nextWaiter_withOtherOptions_asksAfresh_whenTheHeadBeforeItGivesUp() {
    othersWant();
    Waiter head = submit(false);
    Effect.Send place = sent(LockRequest.Enqueue.class);
    options(TestNodes.options().leaseTime(java.time.Duration.ofSeconds(2)));
    submit(false);
    reply(place, reply(Code.HELD, 3), HOME);
    machine.effects().clear();
    machine.cancel(head, now, now / MILLI);
    assertThat(sent().request()).isInstanceOf(LockRequest.Enqueue.class);
  }

  @Test
  void round_whenTooFewNodesVote_sendsNothingAndIsNotRolledBack() {
    disconnect(0, 1);
    submit(true);
    assertThat(take(Effect.Send.class)).isEmpty();
    assertThat(machine.pendingReleases()).isZero();
    assertThat(machine.isIdle()).isTrue();
  }

  @Test
  void invalidation_beforeTheGrant_leadsToARepairOfThatNode() {
    submit(false);
    Effect.Send acquire = sent();
    reply(acquire, TestNodes.held(200), 0);
    machine.onInvalidation(0, TestNodes.KEYS.lockKey(0), now, now / MILLI);
    reply(acquire, Code.GRANTED, 1, 2);
    pass(20);
    assertThat(sent(LockRequest.Extend.class).mask()).isEqualTo(0b001);
  }

  @Test
  void invalidation_whileTheFirstOfTheQueueSleeps_wakesIt() {
    reply(queueing(), reply(Code.HELD, 0), HOME);
    long before = machine.delayNanos(now);
    machine.onInvalidation(0, TestNodes.KEYS.lockKey(0), now, now / MILLI);
    assertThat(machine.delayNanos(now)).isLessThan(before);
  }

  @Test
  void invalidation_ofOneName_wakesAnyWaiterForSeveral() {
    for (List<String> names : List.of(List.of("a"), List.of("a", "b"))) {
      machine = machine(LockKeys.of("redlock", names));
      reply(queueing(), reply(Code.HELD, 3), HOME);
      long before = machine.delayNanos(now);
      machine.onInvalidation(0, machine.keys().lockKey(0), now, now / MILLI);
      assertThat(machine.delayNanos(now) < before).as("of %s", names).isEqualTo(names.size() > 1);
    }
  }

  @Test
  void refusalByAHolder_makesTheNextCallerQueue() {
    submit(true);
    reply(sent(), TestNodes.held(200), 0, 1);
    machine.effects().clear();
    submit(false);
    assertThat(sent().request()).isInstanceOf(LockRequest.Enqueue.class);
  }

  @Test
  void refusalWithoutAHolder_makesTheNextCallerAskAll() {
    submit(true);
    reply(sent(), NO_ANSWER, 0, 1);
    machine.effects().clear();
    submit(false);
    assertThat(sent().request()).isInstanceOf(LockRequest.Acquire.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {40, 80})
  void callersThatGiveUpTogether_areAllToldOfTheOutage_alsoWhileTheFirstAsks(long millis) {
    submit(millis, false);
    submit(millis, false);
    reply(sent(), NO_ANSWER, 0, 1, 2);
    pass(millis / 2);
    pass(millis / 4);
    machine.effects().clear();
    pass(millis / 4);
    assertThat(refusals()).containsExactly(AcquireVerdict.UNAVAILABLE, AcquireVerdict.UNAVAILABLE);
  }

  @Test
  void clientWithTooManyRounds_makesAWaiterBackOff_butNotASingleTry() {
    reachLimit();
    Waiter w = submit(false);
    assertThat(take(Effect.Send.class)).isEmpty();
    assertThat(machine.delayNanos(now)).isLessThan(5 * MILLI);
    machine.cancel(w, now, now / MILLI);
    submit(true);
    assertThat(take(Effect.Send.class)).hasSize(1);
  }

  @Test
  void turn_thatComes_isTakenWhateverRoundsAreUnderWay() {
    reply(queueing(), reply(Code.HELD, 3), HOME);
    machine.effects().clear();
    reachLimit();
    String wakeKey = TestNodes.KEYS.wakeKey(TestNodes.KEYS.member("p"));
    machine.onInvalidation(HOME, wakeKey, now, now / MILLI);
    assertThat(sent().request()).isInstanceOf(LockRequest.Acquire.class);
  }

  @Test
  void grant_endsTheHistoryOfRefusals() {
    reply(queueing(), reply(Code.HELD, 0), HOME);
    String wakeKey = TestNodes.KEYS.wakeKey(TestNodes.KEYS.member("p"));
    machine.effects().clear();
    machine.onInvalidation(HOME, wakeKey, now, now / MILLI);
    Effect.Send acquire = sent(LockRequest.Acquire.class);
    reply(acquire, Code.GRANTED, 0, 1, 2);
    release(granted());
    Effect.Send release = sent(LockRequest.Release.class);
    reply(release, Code.RELEASED, 0, 1, 2);
    assertThat(machine.isIdle()).isTrue();
    assertThat(take(Effect.Send.class)).as("it has no place left").isEmpty();
  }
}
