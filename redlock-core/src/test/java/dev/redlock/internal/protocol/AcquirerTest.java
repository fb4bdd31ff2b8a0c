package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireVerdict;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AcquirerTest extends MachineFixture {
  private static final NodeReply NO_ANSWER = NodeReply.failed(1, NodeError.Kind.TIMEOUT, "");

  /** The home node of this name is the first node. */
  private static final LockKeys AT_NODE_0 = LockKeys.of("redlock", List.of("h"));

  /** A caller that another lease refused, and that is to be queued at the home node now. */
  private Effect.Send refused() {
    submit(false);
    reply(sent(), TestNodes.held(200), HOME, 0);
    return sent(LockRequest.Enqueue.class);
  }

  private void collide(Effect.Send acquire) {
    reply(acquire, Code.GRANTED, 1);
    reply(acquire, NodeReply.held(1, 0, 0, 200, "x"), HOME);
    reply(acquire, NodeReply.held(1, 0, 0, 200, "y"), 0);
  }

  // Asking.

  @Test
  void caller_whoComesAfterTheLastOneGaveUp_isNotMadeToSleep() {
    Effect.Send place = queueing();
    reply(place, reply(Code.HELD, 3), HOME);
    pass(5000);
    machine.effects().clear();
    submit(false);
    assertThat(take(Effect.Send.class)).hasSize(1);
  }

  @Test
  void nextCaller_beginsWithoutTheRefusalsOfTheOneThatWasServed() {
    options(TestNodes.options().autoExtend(false));
    submit(false);
    collide(sent());
    reply(sent(LockRequest.Enqueue.class), Code.ADMITTED, HOME);
    reply(sent(LockRequest.Acquire.class), Code.GRANTED, 0, 1, 2);
    HeldLease l = granted();
    submit(false);
    machine.effects().clear();
    now += 900 * MILLI; // Too late for a hand-off.
    release(l);
    sent(LockRequest.Acquire.class);
  }

  @Test
  void nextCaller_beginsWithoutTheRefusalsOfASingleTry() {
    submit(true);
    submit(false);
    collide(sent());
    wake();
    collide(sent(LockRequest.Acquire.class));
    assertThat(machine.waiting()).as("the single try was repeated once").isEqualTo(1);
    sent(LockRequest.Acquire.class);
  }

  /** Two single tries with a vote each: after the same time they would split the votes again. */
  @Test
  void singleTry_thatMayHaveSplitTheVotesWithANodeDown_isRepeatedOnce_afterAPause() {
    submit(true);
    Effect.Send first = sent();
    reply(first, Code.GRANTED, 1);
    reply(first, NodeReply.held(1, 0, 0, 200, "x"), HOME);
    reply(first, NO_ANSWER, 0);
    assertThat(take(Effect.Refuse.class)).isEmpty();
    wake();
    reply(sent(LockRequest.Acquire.class), NodeReply.held(1, 0, 0, 200, "x"), 1, HOME);
    assertThat(refusals()).containsExactly(AcquireVerdict.HELD);
  }

  /** Each such try would cost twice as much while a node is down. */
  @Test
  void singleTry_ofALockThatIsHeld_isNotRepeated_withANodeDown() {
    nodes.state(0, NodeStatus.State.CONNECTING, 1);
    submit(true);
    reply(sent(), NodeReply.held(1, 0, 0, 200, "x"), 1);
    assertThat(take(Effect.Refuse.class)).hasSize(1);
  }

  /** As when a node is asked for its record again, because the set changes. */
  @Test
  void singleTry_whoseQuorumLostItsWorth_isRepeatedOnce() {
    submit(true);
    Effect.Send first = sent();
    reply(first, Code.GRANTED, 0);
    nodes.state(0, NodeStatus.State.VOTING, 2);
    reply(first, NO_ANSWER, 1);
    reply(first, Code.GRANTED, HOME);
    assertThat(take(Effect.Refuse.class)).isEmpty();
    wake();
    Effect.Send second = sent(LockRequest.Acquire.class);
    reply(second, NO_ANSWER, 0, 1, HOME);
    assertThat(refusals()).containsExactly(AcquireVerdict.UNAVAILABLE);
  }

  /** Its second round is its last: it must not be spent while no quorum votes. */
  @Test
  void singleTry_thatPauses_isWokenByANode_onlyIfAQuorumVotes() {
    submit(true);
    Effect.Send first = sent();
    nodes.state(0, NodeStatus.State.CONNECTING, 1);
    reply(first, Code.GRANTED, 1, 0);
    nodes.state(1, NodeStatus.State.CONNECTING, 1);
    reply(first, NO_ANSWER, HOME);
    machine.effects().clear();
    nodes.state(HOME, NodeStatus.State.CONNECTING, 1);
    nodes.state(0, NodeStatus.State.VOTING, 2);
    machine.onNodeStatus(0, now, now / MILLI);
    pass(5);
    assertThat(take(Effect.Send.class))
        .extracting(Effect.Send::request)
        .noneMatch(LockRequest.Acquire.class::isInstance);
    nodes.state(1, NodeStatus.State.VOTING, 2);
    machine.onNodeStatus(1, now, now / MILLI);
    pass(5);
    sent(LockRequest.Acquire.class);
  }

  @Test
  void nextCaller_isNotToldWhatTheHomeNodeRepliedToTheOneBefore() {
    options(TestNodes.options().autoExtend(false));
    reply(queueing(), reply(Code.HELD, 3), HOME);
    machine.effects().clear();
    machine.onInvalidation(
        HOME, TestNodes.KEYS.wakeKey(TestNodes.KEYS.member("p")), now, now / MILLI);
    reply(sent(), Code.GRANTED, 0, 1, 2);
    HeldLease l = granted();
    submit(905, false);
    machine.effects().clear();
    now += 900 * MILLI; // Too late for a hand-off.
    release(l);
    sent(LockRequest.Enqueue.class);
    pass(5);
    assertThat(refusals()).containsExactly(AcquireVerdict.UNDECIDED);
  }

  @Test
  void wakeUp_isReportedWithItsCause() {
    submit(false);
    assertThat(machine.effects()).noneMatch(Effect.Woken.class::isInstance);
    reply(sent(), NO_ANSWER, 0, 1, 2);
    wake();
    assertThat(take(Effect.Woken.class)).containsExactly(new Effect.Woken(WakeUp.PAUSE));
  }

  @Test
  void round_countsInTheLimitUntilItEnds() {
    assertThat(nodes.limiter().underWay()).isZero();
    submit(false);
    assertThat(nodes.limiter().underWay()).isEqualTo(1);
    reply(sent(), Code.GRANTED, 0, 1);
    assertThat(nodes.limiter().underWay()).isZero();
  }

  @Test
  void roundWhoseTokenIsRefused_isRolledBack_andOneMoreFollowsAtOnce() {
    submit(false);
    Effect.Send first = sent();
    reply(first, Code.STALE, 0, 1);
    List<Effect.Send> next = take(Effect.Send.class);
    assertThat(next)
        .extracting(send -> send.request().getClass().getSimpleName())
        .as("the process keeps its place, and the acquire is behind the roll-back")
        .containsExactly("Enqueue", "Release", "Acquire");
    Effect.Send undo = next.get(1);
    Effect.Send second = next.get(2);
    assertThat(undo.mask()).as("n2 may have granted").isEqualTo(ALL);
    assertThat(((LockRequest.Release) undo.request()).leaseId())
        .isEqualTo(request(first).leaseId());
    assertThat(request(second).leaseId()).isNotEqualTo(request(first).leaseId());
    assertThat(request(second).token()).isGreaterThan(request(first).token());
    assertThat(nodes.limiter().underWay()).isEqualTo(1);
    reply(second, Code.STALE, 0, 1);
    assertThat(take(Effect.Send.class))
        .as("only one more follows at once")
        .noneMatch(send -> send.request() instanceof LockRequest.Acquire);
    assertThat(machine.delayNanos(now)).as("it asks again after a pause").isEqualTo(50 * MILLI);
  }

  @Test
  void singleTryWhoseTokenIsRefused_asksOnceMore() {
    submit(true);
    Effect.Send first = sent();
    reply(first, Code.STALE, 0, 1);
    List<Effect.Send> next = take(Effect.Send.class);
    assertThat(next)
        .extracting(send -> send.request().getClass().getSimpleName())
        .as("it has no place")
        .containsExactly("Release", "Acquire");
    reply(next.get(1), Code.GRANTED, 0, 1);
    granted();
  }

  @Test
  void secondRound_whenTooFewNodesVoteNow_isRefusedAtOnce() {
    submit(false);
    Effect.Send first = sent();
    reply(first, Code.STALE, 0);
    disconnect(1, 2);
    reply(first, Code.STALE, 1);
    assertThat(machine.delayNanos(now)).as("it asks again after a pause").isEqualTo(50 * MILLI);
  }

  @Test
  void turns_inVain_makeTheHomeNodeWaitForALaterLease() {
    Effect.Send place = refused();
    List<Long> afterTokens = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      reply(place, NodeReply.of(Code.ADMITTED, 1, 0, 77), HOME);
      reply(sent(LockRequest.Acquire.class), TestNodes.held(200), HOME, 0);
      while (machine.effects().stream().noneMatch(Effect.Attempted.class::isInstance)) {
        wake();
      }
      place = sent(LockRequest.Enqueue.class);
      afterTokens.add(((LockRequest.Enqueue) place.request()).afterToken());
    }
    assertThat(afterTokens).containsExactly(0L, 0L, 78L, 78L);
  }

  @Test
  void admission_whenTooFewNodesVote_isRefusedAtOnce() {
    Effect.Send place = queueing();
    disconnect(0, 1);
    reply(place, Code.ADMITTED, HOME);
    assertThat(take(Effect.Send.class)).isEmpty();
    assertThat(machine.delayNanos(now)).as("it asks again after a pause").isEqualTo(50 * MILLI);
  }

  private final Wait wait =
      new Wait(nodes, new HomeNode(nodes, TestNodes.KEYS), new TestNodes.Middle());

  private Acquirer acquirer() {
    List<Effect> effects = new ArrayList<>();
    TestNodes.Middle random = new TestNodes.Middle();
    PendingReleases releases = new PendingReleases(nodes, effects);
    return new Acquirer(
        TestNodes.KEYS,
        nodes,
        random,
        effects,
        new TokenChoice(nodes),
        new HomeNode(nodes, TestNodes.KEYS),
        new Turn(),
        new QueuePlaces(TestNodes.KEYS, nodes, random, releases, "p"),
        releases,
        wait);
  }

  private Waiter caller() {
    return new TestNodes.Caller(config, now, 5000 * MILLI, false);
  }

  @Test
  void waiter_thatHasTheLock_isNotReachableFromTheProtocol() {
    Acquirer acquirer = acquirer();
    Waiter w = caller();
    acquirer.ask(w, now, now / MILLI);
    assertThat(wait.roundFor(w)).isNotNull();
    wait.granted();
    assertThat(wait.roundFor(w)).isNull();
  }

  @Test
  void client_withTooManyRounds_backsOffForAboutARound() {
    Acquirer acquirer = acquirer();
    assertThat(acquirer.backsOff(caller(), now + 5000 * MILLI, now)).isFalse();
    reachLimit();
    assertThat(acquirer.backsOff(caller(), now + 5000 * MILLI, now)).isTrue();
    NextWake wake = new NextWake(now);
    wait.deadlines(wake);
    assertThat(wake.delayNanos()).isBetween(MILLI, MILLI + MILLI / 100);
    assertThat(wait.isAsleep(now + wake.delayNanos())).isFalse();
    assertThat(wait.wake()).isEqualTo(WakeUp.PAUSE);
  }

  @Test
  void client_withTooManyRounds_leavesEachWaiterTheTimeForTwo() {
    Acquirer acquirer = acquirer();
    reachLimit();
    assertThat(acquirer.backsOff(caller(), now + 200 * MILLI, now)).isFalse();
    assertThat(wait.isAsleep(now)).isFalse();
    assertThat(acquirer.backsOff(caller(), now + 203 * MILLI, now)).isTrue();
  }

  // The place in the queue, and the vote of the home node.

  @Test
  void newcomer_needsTheHomeNode_ifAVoteSaysThatOthersWait() {
    submit(false);
    Effect.Send acquire = sent();
    assertThat(request(acquire).queueEntry()).isNull();
    reply(acquire, reply(Code.GRANTED, 1), 0, 1);
    assertThat(machine.lease()).isNull();
    reply(acquire, Code.GRANTED, HOME);
    assertThat(machine.lease()).isNotNull();
  }

  @Test
  void processAtItsTurn_comesWithItsPlace_andNeedsNoHomeNode() {
    reply(queueing(), Code.ADMITTED, HOME);
    Effect.Send acquire = sent();
    assertThat(request(acquire).queueEntry()).isNotNull();
    reply(acquire, reply(Code.GRANTED, 1), 0, 1);
    assertThat(machine.lease()).isNotNull();
  }

  @Test
  void processThatPolls_comesWithItsPlace() {
    options(TestNodes.options().leaseTime(Duration.ofSeconds(3)));
    reply(refused(), new NodeReply(Code.HELD, 1, 0, 0, 3000, "another", 0, null), HOME);
    machine.effects().clear();
    wake();
    assertThat(request(sent()).queueEntry()).isNotNull();
  }

  @Test
  void refusedProcess_keepsItsPlaceBeforeItsRollBackFreesTheHomeNode() {
    for (LockKeys keys : List.of(TestNodes.KEYS, AT_NODE_0)) {
      machine = machine(keys);
      int home = keys.equals(AT_NODE_0) ? 0 : HOME;
      submit(false);
      Effect.Send acquire = sent();
      reply(acquire, Code.GRANTED, home);
      reply(acquire, TestNodes.held(200), home == 0 ? 2 : 0, 1);
      assertThat(take(Effect.Send.class))
          .extracting(send -> send.request().getClass().getSimpleName() + send.mask())
          .startsWith("Enqueue" + (1L << home), "Release" + ALL);
    }
  }

  /** The votes of the others were too old for a timer that fired after the node timeout. */
  @Test
  void fairTry_whoseHomeNodeHangs_isGrantedByTheOthers_alsoByALateTimer() {
    options(TestNodes.options().fair(true));
    for (int late : new int[] {26, 25, 20, 1, 0}) {
      machine = machine(TestNodes.KEYS);
      nodes.heard(HOME, now, now, 0);
      submit(true);
      reply(sent(), Code.GRANTED, 0, 1);
      assertThat(machine.delayNanos(now)).isEqualTo(75 * MILLI);
      pass(75 + late);
      assertThat(machine.lease() != null).as("late by " + late).isEqualTo(late <= 25);
      assertThat(nodes.knowledge(HOME).silent()).as("the next try passes it over").isTrue();
      machine.effects().clear();
    }
  }

  @Test
  void singleTry_whileTheRecordsOfAQuorumAreRead_asksAsSoonAsItVotes() {
    for (int since : new int[] {101, 99}) {
      machine = machine(TestNodes.KEYS);
      for (int node : new int[] {0, 1}) {
        NodeStatus.State read = NodeStatus.State.QUARANTINED;
        nodes.status(node, new NodeStatus(read, 1, now - since * MILLI, 0, "is read again"));
      }
      submit(true);
      assertThat(take(Effect.Refuse.class)).as("since " + since).hasSize(since > 100 ? 1 : 0);
    }
    nodes.state(0, NodeStatus.State.VOTING, 1);
    machine.onNodeStatus(0, now, now / MILLI);
    wake();
    reply(sent(), Code.GRANTED, 0, HOME);
    assertThat(machine.lease()).isNotNull();
  }

  // The queue.

  @Test
  void homeNode_thatIsSilent_isPassedOverAfterThePatience() {
    assertThat(queueing().mask()).isEqualTo(1L << HOME);
    assertThat(machine.delayNanos(now)).isEqualTo(10 * MILLI);
    pass(9);
    assertThat(take(Effect.Send.class)).isEmpty();
    pass(1);
    assertThat(sent().mask()).isEqualTo(1L << NEXT_HOME);
  }

  @Test
  void first_ofTheQueue_listensToAnotherNode() {
    reply(refused(), reply(Code.HELD, 0), HOME);
    Effect.Send listen = sent(LockRequest.Inspect.class);
    assertThat(listen.mask()).isEqualTo(0b001);
    reply(listen, Code.HELD, 0);
    assertThat(machine.effects()).as("it only listens").isEmpty();
  }

  @Test
  void first_ofTheQueue_listensToTheNextNodeThatWorks_ifThereIsOne() {
    disconnect(0);
    submit(false);
    reply(sent(), TestNodes.held(200), HOME, 1);
    reply(sent(LockRequest.Enqueue.class), reply(Code.HELD, 0), HOME);
    assertThat(sent().mask()).isEqualTo(0b010);
    disconnect(1);
    wake();
    reply(sent(LockRequest.Enqueue.class), reply(Code.HELD, 0), HOME);
    assertThat(take(Effect.Send.class)).isEmpty();
  }

  @Test
  void second_ofTheQueue_listensToTheHomeNodeOnly() {
    reply(refused(), reply(Code.HELD, 1), HOME);
    assertThat(take(Effect.Send.class)).isEmpty();
  }

  /** Another process collided with this process, and is queued. No vote has reported it. */
  @Test
  void process_thatFindsAnotherInTheQueue_remembersIt() {
    Waiter w = submit(false);
    Effect.Send acquire = sent();
    collide(acquire);
    reply(sent(LockRequest.Enqueue.class), reply(Code.QUEUED, 1), HOME);
    machine.cancel(w, now, now / MILLI);
    machine.effects().clear();
    submit(false);
    assertThat(sent().request()).isInstanceOf(LockRequest.Enqueue.class);
  }

  @Test
  void keyThatOnlyTheHomeNodeStores_mayBeALeftover_soAllAreAskedSoon() {
    submit(false);
    Effect.Send first = sent();
    reply(first, TestNodes.held(3000), HOME);
    reply(first, Code.STALE, 0, 1);
    Effect.Send second = sent(LockRequest.Acquire.class);
    reply(second, TestNodes.held(3000), HOME);
    reply(second, Code.STALE, 0, 1);
    reply(sent(LockRequest.Enqueue.class), reply(Code.HELD, 3), HOME);
    assertThat(machine.delayNanos(now)).as("some round trips").isLessThan(10 * MILLI);
    wake();
    assertThat(sent().request()).isInstanceOf(LockRequest.Acquire.class);
  }
}
