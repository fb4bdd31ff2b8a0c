package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;

import dev.redlock.AcquireReport;
import dev.redlock.LeaseEnd;
import dev.redlock.Vote;
import dev.redlock.internal.memory.NodeModel;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Histories that random runs miss, or find too late. Each is a script of a few lines for the
 * simulated world; {@code HistoriesTest} runs them, and so does the search for mutants.
 */
final class Histories {
  private static final LockKeys A = LockKeys.of("redlock", List.of("a"));

  private Histories() {}

  /** All of them, by name. */
  static Map<String, Runnable> all() {
    Map<String, Runnable> all = new LinkedHashMap<>();
    all.put("extension_ofRestartedNode_doesNotCountForThreeSeconds", Histories::youngNode);
    all.put("round_olderThanNodeTimeout_isNotWon", Histories::oldRound);
    all.put("round_ofSuspendedMachine_isNotWon", Histories::suspendedRound);
    all.put("vote_ofDroppedConnection_doesNotCount", Histories::droppedVote);
    all.put("lease_duringRollingRestart_isNotLost", Histories::rollingRestart);
    all.put("clocks_apart_secondRoundWins", Histories::clocksApart);
    all.put("clockOfTheDoor_wasFarAheadForAWhile_doesNotBarItLater", Histories::doorAhead);
    all.put("handOff_thatFails_predecessorsLateExtendIsRefused", Histories::failedHandOff);
    all.put("handOff_whileNodeIsSilent_releasesPredecessorThere", Histories::handOffBehind);
    all.put("handOff_toCancelledWaiter_freesTheLock", Histories::handOffCancelled);
    all.put("handOff_ofLease_endsItBeforeAnythingIsSent", Histories::handOffSilences);
    all.put("handOff_underWay_letsTheReleasingCallerQueueAgain", Histories::handOffAndBack);
    all.put("knock_isNoVote", Histories::knockIsNoVote);
    all.put("rollBack_ofLaterToken_leavesEarlierLeaseRepairable", Histories::rollBackIsNoEnd);
    all.put("votes_ofTwoTokens_areNeverAddedUp", Histories::votesOfTwoTokens);
    all.put("fence_afterFailedRound_staysRaised", Histories::fenceStays);
    all.put("fence_equalToken_isGrantedToItsOwnerOnly", Histories::equalToken);
    all.put("token_ofSlowClient_isRaisedAboveWhatNodeForgot", Histories::slowClient);
    all.put("token_ofMisledClient_doesNotBarTheNext", Histories::misledClient);
    all.put("acquire_thatArrivesAfterItsRollBack_isRefused", Histories::ghostGrant);
    all.put("acquire_fromOldConnection_isRefusedAfterRelease", Histories::overtaken);
    all.put("extend_afterAnotherLeaseCameAndWent_isRefused", Histories::resurrection);
    all.put("handOff_toWhoseExtendWasFaster_endsThePredecessorAllTheSame", Histories::faster);
    all.put("extend_afterReleaseWithMinimumHold_isRefused", Histories::keptKey);
    all.put("extend_ofExpiredLease_doesNotReviveIt", Histories::lateExtension);
    all.put("extend_byMinority_leavesTheDeadline", Histories::minorityExtension);
    all.put("round_withoutVerdictAtNodeTimeout_isUndoneEverywhere", Histories::silentNodes);
    all.put("evenNumber_tie_isDecidedAtOnce", Histories::tie);
    all.put("reply_thatSatLongerThanTheLease_grantsNothing", Histories::pausedBeforeReply);
    all.put("lease_withoutAnyAnswer_endsInTime", Histories::silentEnd);
    all.put("release_ofUnreachableNode_isSentWhenItIsBack", Histories::owedRelease);
    all.put("cancel_inTheMiddle_rollsBackEverywhere", Histories::cancelled);
    all.put("cap_endsTheLeaseThere", Histories::cap);
    all.put("extension_isSetAgainNotAdded", Histories::extensionIsReset);
    all.put("lateGrant_afterRollBack_isUndone", Histories::lateGrant);
    all.put("lateGrant_whoseRollBackWasForgotten_isUndone", Histories::forgottenRollBack);
    all.put("quarantinedNode_isNotAskedForVotes", Histories::quarantined);
    all.put("flushedNode_isNotAskedForVotes", Histories::flushed);
    all.put("lease_lostAtTheDoorOnly_doesNotStartAStorm", Histories::lostAtTheDoor);
    all.put("lease_isHealedWhereNodeWasQuarantined", Histories::healed);
    all.put("brokenLock_isToldToItsHolder", Histories::broken);
    all.put("brokenLock_inTheMiddleOfALookThatFails_isLookedAtAgain", Histories::brokenLater);
    all.put("minimumHold_keepsOthersOut", Histories::minimumHold);
    all.put("fairMode_servesInOrderOfArrival", Histories::fair);
    all.put("fairMode_whoWasAdmitted_isNotUndoneByWhoAsksLater", Histories::admitted);
    all.put("fairMode_admittedRoundThatFails_keepsItsPlace", Histories::keepsItsPlace);
    all.put("fairMode_leavesTheLineOfAFormerDoor", Histories::formerDoor);
    all.put("tryAcquire_whileHeld_answersAtOnce", Histories::triesOnce);
    all.put("lease_whoseHoldersWallClockIsSetBack_endsInTime", Histories::wallSetBack);
    all.put("handOffs_inARow_letAnotherProcessCome", Histories::handOffsInARow);
    all.put("waiter_thatHearsNothing_asksAgainSoonAfterTheRelease", Histories::polls);
    all.put("waiter_whoseHolderDied_asksWhenTheKeysHaveExpired", Histories::keysExpire);
    all.put("report_showsVotesThatCameAfterTheVerdict", Histories::lateVotesShown);
    all.put("close_leavesNothing", Histories::closes);
    all.putAll(HandOffHistories.all());
    return all;
  }

  /**
   * N = 3: A holds n2 and n3; B has a vote of n1 and waits; n1 restarts empty; A's extension
   * repairs n1 and would count it; n2 expires, B counts n1 and n2: two owners.
   */
  private static void youngNode() {
    Play p = new Play(3, 2, options());
    Play.Person a = p.person(0);
    Play.Person b = p.person(1);
    p.link(a, 1).blocked = true;
    p.start();
    a.wants(100);
    p.run(5);
    a.mustHold("two nodes are a quorum");
    p.link(b, 2).holdRequests();
    p.link(b, 3).holdRequests();
    p.link(b, 1).holdReplies();
    b.wants(5000);
    p.run(5);
    p.node(1).crash(SimNode.Kept.NOTHING, 1);
    p.run(5);
    p.link(a, 1).mend();
    p.run(20);
    require(a.lease.id().equals(p.owner(1)), "the young node is given the lease");
    long before = a.lease.validity().deadlineNanos();
    p.link(a, 2).holdRequests();
    a.extends_();
    p.run(300);
    require(
        a.lease.validity().deadlineNanos() == before, "n1 is too young to be counted, n2 silent");
    require(a.extended != null && a.extended.failure() != null, "and the caller is told");
    p.run(4000);
  }

  /** Votes age: B has a vote of n1, and gets that of n2 long after. */
  private static void oldRound() {
    Play p = new Play(3, 1, options()).start();
    Play.Person b = p.person(0);
    p.link(b, 2).holdReplies();
    p.link(b, 3).holdRequests();
    b.wants(90);
    p.run(60);
    // The timer does not run: only the answer itself can tell that the round is over.
    b.client.pause(60 * Scenario.MS);
    p.link(b, 2).letGo();
    p.run(100);
    require(b.lease == null, "the deciding vote came after the node timeout");
    p.link(b, 3).letGo();
    p.run(50);
    require(p.owner(1) == null && p.owner(2) == null && p.owner(3) == null, "and all is undone");
  }

  /** The same on a machine that slept: its monotonic clock says that no time has passed. */
  private static void suspendedRound() {
    Play p = new Play(3, 1, options()).start();
    Play.Person b = p.person(0);
    p.link(b, 2).holdReplies();
    p.link(b, 3).holdRequests();
    b.wants(5000);
    p.run(20);
    b.client.suspend(400 * Scenario.MS);
    p.run(10);
    p.link(b, 2).letGo();
    p.run(395);
    require(b.lease == null, "the votes are older than the node timeout by the wall clock");
    p.link(b, 3).letGo();
    p.run(100);
  }

  /** A vote given before the connection was seen to drop may have been forgotten since. */
  private static void droppedVote() {
    Play p = new Play(3, 1, options()).start();
    Play.Person b = p.person(0);
    p.link(b, 2).holdReplies();
    p.link(b, 3).holdRequests();
    b.wants(500);
    p.run(5);
    p.link(b, 1).cut();
    p.run(5);
    p.link(b, 2).letGo();
    p.run(5);
    require(b.lease == null, "only n2's vote is left");
    p.link(b, 1).mend();
    p.link(b, 3).letGo();
    p.run(400);
  }

  private static void rollingRestart() {
    Play p = new Play(3, 2, options().autoExtend(true)).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    for (int n = 1; n <= 3; n++) {
      p.node(n).crash(SimNode.Kept.NOTHING, 100);
      for (int i = 0; i < 20; i++) {
        Play.Person b = p.person(1).wants(350);
        p.run(400);
        b.mustNotHold("A has it");
        a.mustHold("a rolling restart of all nodes is survived, n" + n);
      }
    }
    a.releases();
    p.run(50);
  }

  /**
   * Found by MixedRunIT: a waiter whose knock was refused for its token proposed one that only the
   * door's clock, half a minute ahead, would accept. The door stored it, and when its clock was
   * right again it refused everybody for half a minute; two other masters died, and nobody had a
   * quorum.
   */
  private static void doorAhead() {
    Play p = new Play(3, 2, options().leaseTime(Duration.ofSeconds(5)).autoExtend(true)).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person b = p.person(1);
    b.wants(5000);
    p.run(20);
    p.node(DOOR_OF_A).step(29_000_000);
    p.run(20);
    a.releases();
    p.run(500);
    b.mustHold("the two others are right");
    b.releases();
    p.run(50);
    p.node(DOOR_OF_A).step(-29_000_000);
    p.run(50);
    p.node(DOOR_OF_A % 3 + 1).crash(SimNode.Kept.ALL, 1000);
    p.run(50);
    b.wants(500);
    p.run(500);
    b.mustHold("the door is right again, and so is the third");
  }

  private static void clocksApart() {
    Play p = new Play(3, 1, options());
    p.world.clocksUnknown = true;
    p.node(1).setClock(-900_000);
    p.node(3).setClock(900_000);
    p.start();
    Play.Person a = p.person(0);
    a.tries();
    p.run(5);
    a.mustHold("the second round has a token that a quorum accepts");
    a.releases();
    p.run(10);
    Play.Person b = p.person(0);
    b.tries();
    p.run(3);
    b.mustHold("what was learnt is used");
  }

  /** N = 3. The predecessor's extend is still on its way to n1 when its hand-off fails. */
  private static void failedHandOff() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person next = p.person(0);
    next.wants(400);
    p.link(a, 1).holdRequests();
    a.extends_();
    p.run(5);
    p.link(a, 1).cut();
    p.link(a, 2).holdRequests();
    p.link(a, 3).holdReplies();
    a.releases();
    p.run(120);
    require(a.end() == LeaseEnd.RELEASED, "a hand-off that fails is a release");
    next.mustNotHold("two of three are silent");
    p.link(a, 1).mend();
    p.link(a, 2).letGo();
    p.link(a, 3).letGo();
    next.cancels();
    p.run(600);
    require(p.owner(1) == null, "the release has reached n1");
    require(p.ended(1) >= a.lease.token(), "and says that the lease has ended");
    require(p.link(a, 1).straggle().code() == ReplyCode.LOST, "so the late extend is refused");
    require(p.owner(1) == null, "and nothing is left");
  }

  private static void handOffBehind() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person next = p.person(0);
    next.wants(400);
    p.link(a, 1).cut();
    p.run(1);
    a.releases();
    p.run(5);
    require(a.end() == LeaseEnd.HANDED_OFF, "n2 and n3 are a quorum");
    next.mustHold("the next has it");
    p.link(a, 1).mend();
    p.run(50);
    require(next.lease.id().equals(p.owner(1)), "n1 changes hands as soon as it is back");
    Play.Person third = p.person(0);
    third.wants(400);
    p.link(a, 1).holdRequests();
    next.releases();
    p.run(5);
    require(next.end() == LeaseEnd.HANDED_OFF, "once more, with n1 silent");
    third.releases();
    p.run(5);
    p.link(a, 1).letGo();
    p.run(200);
    require(p.owner(1) == null && p.owner(2) == null && p.owner(3) == null, "all is free");
  }

  private static void handOffCancelled() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person next = p.person(0);
    next.wants(900);
    p.link(a, 2).holdRequests();
    p.link(a, 3).holdRequests();
    a.releases();
    p.run(5);
    require(next.cancels(), "it waits still");
    p.link(a, 2).letGo();
    p.link(a, 3).letGo();
    p.run(20);
    require(next.lease == null, "who has cancelled gets nothing");
    require(a.end() == LeaseEnd.RELEASED, "the lease is released instead");
    require(p.owner(1) == null && p.owner(2) == null && p.owner(3) == null, "all is free");
    Play.Person b = p.person(1);
    b.tries();
    p.run(5);
    b.mustHold("for anybody");
  }

  private static void handOffSilences() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person next = p.person(0);
    next.wants(900);
    a.releases();
    a.mustNotHold("release first ends the lease locally");
    p.run(5);
    next.mustHold("then it is sent");
    require(next.lease.token() > a.lease.token(), "with a token of its own");
  }

  /**
   * N = 3. B is let in by the door, and of the round that follows only one other node answers with
   * a grant.
   */
  private static void knockIsNoVote() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person b = p.person(1);
    b.wants(3000);
    p.run(20);
    int door = DOOR_OF_A;
    int other = door % 3 + 1;
    int third = other % 3 + 1;
    a.releases();
    for (int i = 0; i < 200 && !p.world.history.lastSent("B", "acquire", "ttl 200"); i++) {
      p.world.runUntil(p.world.now + Scenario.MS / 10);
    }
    p.world.runUntil(p.world.now + 6 * Scenario.MS / 10);
    // The knock is at the door; whatever follows is held there and at the third node.
    p.link(b, door).holdRequests();
    p.link(b, third).holdRequests();
    p.run(20);
    require(
        p.owner(other) != null && p.owner(other).startsWith("B"),
        "the round has reached the other node");
    require(b.lease == null, "a knock and one grant are no quorum");
    p.link(b, door).letGo();
    p.link(b, third).letGo();
    p.run(300);
  }

  /** Rendezvous hash of {@code redlock:{a}} over n1, n2, n3. */
  private static final int DOOR_OF_A = 2;

  /** N = 3. A holds n2 and n3; B's later token is rolled back everywhere; A repairs n1. */
  private static void rollBackIsNoEnd() {
    Play p = new Play(3, 2, options());
    Play.Person a = p.person(0);
    Play.Person b = p.person(1);
    p.link(a, 1).blocked = true;
    p.start();
    a.wants(100);
    p.run(5);
    b.tries();
    p.run(10);
    b.mustNotHold("n2 and n3 are A's");
    require(p.fence(1) > a.lease.token(), "the fence of n1 is above A's token");
    require(p.ended(1) < a.lease.token(), "but no lease has ended there");
    p.link(a, 1).mend();
    p.run(50);
    require(a.lease.id().equals(p.owner(1)), "n1 is healed");
    a.extends_();
    p.run(10);
    a.mustHold("and A goes on");
    require(a.extended != null && a.extended.failure() == null, "with three of three");
  }

  /** N = 3. n1 grants the first token late, n2 the second in time. */
  private static void votesOfTwoTokens() {
    Play p = new Play(3, 1, options());
    p.world.clocksUnknown = true;
    p.start();
    Play.Person a = p.person(0);
    // Whatever was proposed, n1 grants it: a fresh node has no fence, and its clock is wrong.
    p.node(1).setClock(-1_760_000_000_000_000L + 1_500_000);
    p.link(a, 1).holdReplies();
    a.wants(90);
    p.run(5);
    require(p.owner(1) != null, "n1 has granted the first token");
    p.link(a, 3).holdRequests();
    p.run(1);
    p.link(a, 1).letGo();
    p.run(10);
    require(
        a.lease == null || p.world.history.votes(a.lease.id(), a.lease.token()) >= 2,
        "one vote for each token is no quorum");
    p.link(a, 3).letGo();
    p.run(200);
  }

  private static void fenceStays() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 2).holdRequests();
    p.link(a, 3).holdRequests();
    a.wants(150);
    p.run(5);
    long raised = p.fence(1);
    require(raised > 0, "n1 granted");
    p.run(300);
    require(p.owner(1) == null, "rolled back");
    require(p.fence(1) >= raised, "fences are never lowered");
    p.link(a, 2).letGo();
    p.link(a, 3).letGo();
    p.run(300);
  }

  private static NodeReply acquire(NodeModel m, String id, long token, long now) {
    return m.execute(new LockRequest.Acquire(A, id, token, 1000, null, 0, null), 1, 1, now);
  }

  private static void equalToken() {
    NodeModel m = new NodeModel(60_000);
    long now = 1_760_000_000_000_000L;
    require(acquire(m, "x", now, now).code() == ReplyCode.GRANTED, "free");
    require(acquire(m, "x", now, now).code() == ReplyCode.GRANTED, "a repeat");
    require(acquire(m, "y", now, now).code() == ReplyCode.HELD, "another's");
    m.execute(new LockRequest.Release(A, "x", now, true, 0, null), 1, 1, now);
    require(acquire(m, "y", now, now).code() == ReplyCode.STALE, "equal is not above");
    require(acquire(m, "x", now, now).code() == ReplyCode.STALE, "not even for its owner, now");
    require(acquire(m, "y", now + 1, now).code() == ReplyCode.GRANTED, "above");
    long late = now + 1_002_000;
    require(acquire(m, "z", now - 2_000_000, late).code() == ReplyCode.STALE, "below the window");
    require(acquire(m, "z", late + 2_000_001, late).code() == ReplyCode.STALE, "above the window");
    require(acquire(m, "z", late + 2_000_000, late).code() == ReplyCode.GRANTED, "in the window");
  }

  /**
   * N = 3, F1 of the hazards: A is granted by n1 and n3, n3 forgets, and B, whose clock is behind,
   * asks n2 and n3.
   */
  private static void slowClient() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    Play.Person b = p.person(1);
    p.link(a, 2).cut();
    p.run(1);
    a.wants(100);
    p.run(5);
    a.mustHold("n1 and n3");
    long token = a.lease.token();
    a.releases();
    p.run(5);
    p.node(3).crash(SimNode.Kept.NOTHING, 10);
    p.run(7500);
    p.link(b, 1).cut();
    // What B believes of the nodes' clocks is ten seconds old.
    for (int i = 0; i < 3; i++) {
      long now = b.client.mono();
      b.client.knowledge[i].observe(now, now, token - 10_000_000);
    }
    b.wants(300);
    p.run(50);
    b.mustHold("the second round has a better token");
    require(b.lease.token() > token, "which is above what n3 forgot");
  }

  /**
   * Seed 613 of LONG_ROUNDS: a client was stopped between its clock and the network, took the nodes
   * to be seven seconds ahead, and from its first proposal on none of its tokens was in any window.
   */
  private static void misledClient() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    for (int i = 0; i < 3; i++) {
      long now = a.client.mono();
      a.client.knowledge[i].observe(now, now, p.node(i + 1).clock() + 7_000_000);
    }
    a.wants(500);
    p.run(300);
    a.mustHold("the first answers tell what the clocks show");
  }

  private static void ghostGrant() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 1).holdRequests();
    p.link(a, 2).holdRequests();
    a.wants(150);
    p.run(5);
    p.link(a, 1).cut();
    p.link(a, 2).cut();
    p.run(300);
    require(a.refusal != null, "refused");
    p.link(a, 1).mend();
    p.link(a, 2).mend();
    p.run(50);
    require(p.link(a, 1).straggle().code() == ReplyCode.STALE, "too late at n1");
    require(p.link(a, 2).straggle().code() == ReplyCode.STALE, "too late at n2");
    require(p.owner(1) == null && p.owner(2) == null, "no ghost");
  }

  private static void overtaken() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 1).holdRequests();
    a.wants(150);
    p.run(5);
    a.mustHold("n2 and n3");
    p.link(a, 1).cut();
    p.run(5);
    p.link(a, 1).mend();
    a.releases();
    p.run(50);
    require(p.ended(1) == a.lease.token(), "the release has reached n1 on a new connection");
    while (!p.link(a, 1).lostRequests.isEmpty()) {
      ReplyCode code = p.link(a, 1).straggle().code();
      require(code != ReplyCode.GRANTED && code != ReplyCode.REPAIRED, "n1 grants a dead lease");
    }
    require(p.owner(1) == null, "nothing is left");
  }

  /** H10: A's key is gone at n1, B has the lock there and frees it, A extends. */
  private static void resurrection() {
    NodeModel m = new NodeModel(60_000);
    long now = 1_760_000_000_000_000L;
    acquire(m, "a", now, now);
    m.delete("redlock:{a}");
    require(acquire(m, "b", now + 1, now).code() == ReplyCode.GRANTED, "free");
    m.execute(new LockRequest.Release(A, "b", now + 1, true, 0, null), 1, 1, now);
    LockRequest.Extend extend = new LockRequest.Extend(A, "a", now, 1000);
    require(m.execute(extend, 1, 1, now).code() == ReplyCode.LOST, "a later lease has ended");
    acquire(m, "c", now + 2, now);
    require(m.execute(extend, 1, 1, now).code() == ReplyCode.LOST, "another's key");
    require("c".equals(m.owner("redlock:{a}", now)), "which stays");
  }

  private static void lateExtension() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(900);
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).holdReplies();
    }
    a.extends_();
    p.run(50);
    a.client.pause(60 * Scenario.MS);
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).letGo();
    }
    p.run(200);
    a.mustNotHold("its validity ran out before the answers were read");
    require(a.end() == LeaseEnd.EXPIRED, "and that is what it was told");
    p.run(100);
    Play.Person b = p.person(1);
    b.tries();
    p.run(10);
    b.mustHold("an expired lease is cleaned up like a released one");
  }

  private static void minorityExtension() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(400);
    long before = a.lease.validity().deadlineNanos();
    p.link(a, 2).holdRequests();
    p.link(a, 3).holdRequests();
    a.extends_();
    p.run(150);
    require(a.lease.validity().deadlineNanos() == before, "one of three extends nothing");
    require(a.extended != null && a.extended.failure() != null, "and the caller is told");
    p.run(500);
    require(a.end() == LeaseEnd.EXPIRED, "the old deadline stands");
    p.link(a, 2).letGo();
    p.link(a, 3).letGo();
    p.run(100);
  }

  private static void silentNodes() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 2).holdReplies();
    p.link(a, 3).holdReplies();
    a.wants(110);
    p.run(120);
    require(a.refusal != null, "its time is up");
    require(a.refusal.verdict() == AcquireReport.Verdict.UNAVAILABLE, "too few answered");
    p.run(10);
    for (int n = 1; n <= 3; n++) {
      require(p.owner(n) == null, "undone on n" + n + ", silent or not");
    }
    p.link(a, 2).letGo();
    p.link(a, 3).letGo();
    p.run(200);
  }

  private static void tie() {
    Play p = new Play(4, 2, options()).start();
    Play.Person a = p.person(0);
    Play.Person b = p.person(1);
    p.link(a, 1).holdRequests();
    p.link(a, 2).holdRequests();
    p.link(b, 3).holdRequests();
    p.link(b, 4).holdRequests();
    a.wants(3000);
    b.wants(3000);
    p.run(2);
    for (int n = 1; n <= 4; n++) {
      p.link(a, n).letGo();
      p.link(b, n).letGo();
    }
    p.run(3);
    require(p.world.history.everSent("A", "roll back"), "the tie is decided, and undone, at once");
    p.run(100);
    require(a.holds() != b.holds(), "one of them has it soon after");
    (a.holds() ? a : b).releases();
    p.run(100);
  }

  /** The answers sit in the socket for longer than the lease. */
  private static void pausedBeforeReply() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    a.wants(5000);
    p.world.runUntil(p.world.now + 6 * Scenario.MS / 10);
    a.client.pause(1500 * Scenario.MS);
    p.run(1200);
    Play.Person b = p.person(1);
    b.tries();
    p.run(10);
    b.mustHold("A's keys have expired");
    p.run(400);
    a.mustNotHold("B has it");
    b.releases();
    p.run(1000);
    a.mustHold("A has asked again");
  }

  private static void silentEnd() {
    Play p = new Play(3, 1, options().autoExtend(true)).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).holdRequests();
    }
    long deadline = a.lease.validity().deadlineNanos();
    p.run(970);
    a.mustHold("until the deadline");
    p.world.runUntil(p.world.now + deadline - a.client.mono() + 1);
    require(a.end() == LeaseEnd.EXPIRED, "told in time, without any answer");
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).letGo();
    }
    p.run(100);
  }

  private static void owedRelease() {
    Play p = new Play(3, 1, options().leaseTime(Duration.ofSeconds(5))).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    p.link(a, 1).cut();
    p.run(1);
    a.releases();
    p.run(10);
    require(a.released != null && a.released.failure() == null, "a quorum has confirmed");
    require(a.lease.id().equals(p.owner(1)), "n1 has not heard of it");
    p.link(a, 1).mend();
    p.run(20);
    require(p.owner(1) == null, "it has now");
  }

  private static void cancelled() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 2).holdReplies();
    p.link(a, 3).holdReplies();
    a.wants(5000);
    p.run(5);
    require(a.cancels(), "it waits");
    p.run(10);
    for (int n = 1; n <= 3; n++) {
      require(p.owner(n) == null, "cancelling never cancels the clean-up on n" + n);
    }
    p.link(a, 2).letGo();
    p.link(a, 3).letGo();
    p.run(20);
    require(a.lease == null, "nor does a late answer undo the cancelling");
  }

  private static void cap() {
    Play p = new Play(3, 2, options().autoExtend(true).holdCap(Duration.ofMillis(2500))).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(2400);
    a.mustHold("extended until the cap");
    p.run(110);
    a.mustNotHold("and no longer");
    require(a.end() == LeaseEnd.CAP_REACHED, "told why");
    p.run(20);
    Play.Person b = p.person(1);
    b.tries();
    p.run(5);
    b.mustHold("a capped lease is cleaned up");
  }

  private static void extensionIsReset() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(100);
    a.extends_();
    p.run(10);
    long left = p.node(1).model.expiresMillis("redlock:{a}") - p.node(1).clock() / 1000;
    require(left <= 1000 && left > 950, "the key lives for the lease time from now, not for more");
    require(a.client.remaining(a.lease) <= 988 * Scenario.MS, "and validity is less than that");
  }

  /** n1 answers the acquire late, on a connection on which the roll-back failed with an error. */
  private static void lateGrant() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).holdReplies();
    }
    a.wants(105);
    p.run(50);
    p.node(1).refuse(true);
    p.node(2).refuse(true);
    p.run(80);
    require(a.refusal != null, "refused");
    require(p.owner(1) != null, "n1 had granted, and refused the roll-back");
    p.node(1).refuse(false);
    p.node(2).refuse(false);
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).letGo();
    }
    p.run(30);
    require(p.owner(1) == null && p.owner(2) == null, "the roll-back is repeated");
  }

  /** The same, and the order to release was given up: too many were owed. */
  private static void forgottenRollBack() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 1).holdReplies();
    p.link(a, 2).holdReplies();
    a.wants(5000);
    p.run(20);
    p.node(1).refuse(true);
    a.cancels();
    p.run(5);
    a.client.lock(0).machine.forgetOldestCleanup();
    p.node(1).refuse(false);
    require(p.owner(1) != null, "n1 had granted, and refused the roll-back");
    p.link(a, 1).letGo();
    p.link(a, 2).letGo();
    p.run(20);
    require(p.owner(1) == null, "the late grant is undone");
  }

  private static void quarantined() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.node(1).crash(SimNode.Kept.NOTHING, 10);
    p.node(2).crash(SimNode.Kept.NOTHING, 10);
    p.run(800);
    a.tries();
    p.run(20);
    a.mustNotHold("two nodes are too young");
    require(a.refusal != null, "told at once");
    require(a.refusal.verdict() == AcquireReport.Verdict.UNAVAILABLE, "and why");
    p.run(7000);
    Play.Person b = p.person(0);
    b.tries();
    p.run(10);
    b.mustHold("they are old enough now");
  }

  private static void flushed() {
    Play p = new Play(3, 2, options());
    Play.Person a = p.person(0);
    p.link(a, 3).blocked = true;
    p.start();
    a.wants(100);
    p.run(5);
    a.mustHold("n1 and n2");
    p.link(a, 1).holdReplies();
    p.node(1).flush();
    p.run(2);
    Play.Person b = p.person(1);
    b.tries();
    p.run(10);
    b.mustNotHold("n3 is free, but n1 may have forgotten");
    p.link(a, 1).letGo();
    p.run(50);
    p.node(2).flushAnother();
    p.run(2);
    a.mustHold("n2 has kept its keys");
    a.releases();
    p.run(10);
    Play.Person c = p.person(1);
    c.tries();
    p.run(10);
    c.mustHold("and votes, with n3");
  }

  /**
   * Seed 1294830: an operator's break reached the door alone. Whoever was let in there failed at
   * the others and rolled back; the door pushed that to the holder, who looked; its extension
   * pushed to the waiters, who asked; fifty times a second, for as long as the lease lived.
   */
  private static void lostAtTheDoor() {
    Play p = new Play(3, 3, options().autoExtend(true)).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person operator = p.person(1);
    p.link(operator, DOOR_OF_A % 3 + 1).cut();
    p.link(operator, (DOOR_OF_A + 1) % 3 + 1).cut();
    operator.client.lock(0).act((m, now, wall) -> m.breakLock(100 * Scenario.MS, now));
    p.run(50);
    p.link(operator, DOOR_OF_A % 3 + 1).mend();
    p.link(operator, (DOOR_OF_A + 1) % 3 + 1).mend();
    p.person(1).wants(60_000);
    p.person(2).wants(60_000);
    p.run(200);
    long before = p.world.events;
    p.run(5000);
    long events = p.world.events - before;
    a.mustHold("n1 and n3 are a quorum");
    require(events < 1500, events + " events in five seconds in which nothing changed");
  }

  private static void healed() {
    Play p = new Play(3, 2, options().autoExtend(true)).start();
    Play.Person a = p.person(0);
    p.node(1).crash(SimNode.Kept.NOTHING, 10);
    p.run(800);
    a.wants(100);
    p.run(5);
    a.mustHold("n2 and n3");
    require(a.lease.id().equals(p.owner(1)), "n1 stores it although it does not vote");
  }

  private static void broken() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person operator = p.person(1);
    operator.client.lock(0).act((m, now, wall) -> m.breakLock(100 * Scenario.MS, now));
    p.run(50);
    require(a.end() == LeaseEnd.LOST, "the pushes of the nodes tell at once");
    operator.tries();
    p.run(10);
    operator.mustHold("it is free");
    require(operator.lease.token() > a.lease.token(), "in order");
  }

  /** The second node is broken when the look at the first waits for the third, which hangs. */
  private static void brokenLater() {
    Play p = new Play(3, 2, options().leaseTime(Duration.ofSeconds(30)).autoExtend(true)).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    p.link(a, 3).holdReplies();
    Play.Person operator = p.person(1);
    p.link(operator, 2).cut();
    operator.client.lock(0).act((m, now, wall) -> m.breakLock(100 * Scenario.MS, now));
    p.run(30);
    p.link(operator, 2).mend();
    p.run(30);
    a.mustHold("n2 is its own, and n3 may be");
    operator.client.lock(0).act((m, now, wall) -> m.breakLock(100 * Scenario.MS, now));
    p.run(200);
    require(a.end() == LeaseEnd.LOST, "the push of n2 is not forgotten when the look fails");
  }

  /** Found by the exhaustive search: B's extend repairs a node before B's hand-off comes there. */
  private static void faster() {
    NodeModel m = new NodeModel(60_000);
    long now = 1_760_000_000_000_000L;
    acquire(m, "a", now, now);
    m.delete("redlock:{a}");
    LockRequest.Extend repair = new LockRequest.Extend(A, "b", now + 1, 1000);
    require(m.execute(repair, 1, 1, now).code() == ReplyCode.REPAIRED, "free");
    LockRequest.Acquire handOff = new LockRequest.Acquire(A, "b", now + 1, 1000, "a", now, null);
    require(m.execute(handOff, 1, 1, now).code() == ReplyCode.GRANTED, "a repeat");
    m.delete("redlock:{a}");
    LockRequest.Extend late = new LockRequest.Extend(A, "a", now, 1000);
    require(m.execute(late, 1, 1, now).code() == ReplyCode.LOST, "A was handed on");
  }

  /** A minimum hold leaves the key for a while; a copy of an extend must not lengthen that. */
  private static void keptKey() {
    NodeModel m = new NodeModel(60_000);
    long now = 1_760_000_000_000_000L;
    acquire(m, "a", now, now);
    m.execute(new LockRequest.Release(A, "a", now, true, 300, null), 1, 1, now);
    long until = m.expiresMillis("redlock:{a}");
    LockRequest.Extend late = new LockRequest.Extend(A, "a", now, 30_000);
    require(m.execute(late, 1, 1, now).code() == ReplyCode.LOST, "the lease has ended");
    require(m.expiresMillis("redlock:{a}") == until, "and its key goes when it was to go");
  }

  private static void minimumHold() {
    Play p = new Play(3, 2, options().minimumHold(Duration.ofMillis(300))).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    a.releases();
    a.mustNotHold("it ends at once");
    p.run(250);
    Play.Person b = p.person(1);
    b.tries();
    p.run(5);
    b.mustNotHold("but stays taken");
    p.run(60);
    Play.Person c = p.person(1);
    c.tries();
    p.run(5);
    c.mustHold("for as long as it was to be");
  }

  private static void fair() {
    Play p = new Play(3, 4, options().fair(true).lineTimeout(Duration.ofSeconds(5))).start();
    Play.Person first = p.person(0);
    first.wants(100);
    p.run(5);
    Play.Person[] line = {p.person(2), p.person(1), p.person(3)};
    for (Play.Person person : line) {
      person.wants(9000);
      p.run(30);
    }
    first.releases();
    for (int i = 0; i < line.length; i++) {
      p.run(600);
      line[i].mustHold("number " + i + " in line");
      for (int j = i + 1; j < line.length; j++) {
        line[j].mustNotHold("it is not its turn");
      }
      line[i].releases();
    }
    p.run(100);
  }

  /** C came before B, but its question reaches the door only after the door has let B in. */
  private static void admitted() {
    Play p = new Play(3, 3, options().fair(true).lineTimeout(Duration.ofSeconds(5))).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person c = p.person(2);
    for (int n = 1; n <= 3; n++) {
      p.link(c, n).holdRequests();
    }
    c.wants(5000);
    p.run(10);
    Play.Person b = p.person(1);
    b.wants(5000);
    p.run(20);
    a.releases();
    for (int i = 0; i < 200 && !p.world.history.lastSent("B", "acquire", "ttl 200"); i++) {
      p.world.runUntil(p.world.now + Scenario.MS / 10);
    }
    p.world.runUntil(p.world.now + 6 * Scenario.MS / 10);
    p.link(c, DOOR_OF_A).letGo();
    p.link(b, DOOR_OF_A % 3 + 1).holdReplies();
    p.link(b, (DOOR_OF_A + 1) % 3 + 1).holdReplies();
    p.run(3);
    p.link(b, DOOR_OF_A % 3 + 1).letGo();
    p.link(b, (DOOR_OF_A + 1) % 3 + 1).letGo();
    p.run(2);
    require(p.node(DOOR_OF_A).model.lineLength("redlock:{a}") == 1, "C has come to the door");
    b.mustHold("but B was in");
    b.releases();
    p.link(c, DOOR_OF_A % 3 + 1).letGo();
    p.link(c, (DOOR_OF_A + 1) % 3 + 1).letGo();
    p.run(600);
    c.mustHold("and C is next");
  }

  /**
   * The release is at the door, and still on its way to the others: B is let in at the door, loses
   * the round, and must not lose its place to C with it.
   */
  private static void keepsItsPlace() {
    Play p = new Play(3, 3, options().fair(true).lineTimeout(Duration.ofSeconds(5))).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person b = p.person(1);
    b.wants(5000);
    p.run(20);
    Play.Person c = p.person(2);
    c.wants(5000);
    p.run(20);
    p.link(a, DOOR_OF_A % 3 + 1).holdRequests();
    p.link(a, (DOOR_OF_A + 1) % 3 + 1).holdRequests();
    a.releases();
    for (int i = 0; i < 200 && !p.world.history.everSent("B", "roll back B.2"); i++) {
      p.world.runUntil(p.world.now + Scenario.MS / 10);
    }
    require(p.world.history.everSent("B", "roll back B.2"), "B was let in and lost the round");
    p.link(b, DOOR_OF_A).holdRequests();
    p.run(10);
    p.link(a, DOOR_OF_A % 3 + 1).letGo();
    p.link(a, (DOOR_OF_A + 1) % 3 + 1).letGo();
    p.run(30);
    c.mustNotHold("B came first");
    p.link(b, DOOR_OF_A).letGo();
    p.run(100);
    b.mustHold("it is first in line");
    c.mustNotHold("it is second");
    b.releases();
    p.run(600);
    c.mustHold("and then it is C's turn");
  }

  /** B stands in line at the door, which then is unreachable for it; it is served elsewhere. */
  private static void formerDoor() {
    Play p = new Play(3, 3, options().fair(true).lineTimeout(Duration.ofSeconds(50))).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person b = p.person(1);
    b.wants(5000);
    p.run(50);
    require(p.node(DOOR_OF_A).model.lineLength("redlock:{a}") == 1, "B stands at the door");
    p.link(b, DOOR_OF_A).cut();
    p.run(1);
    a.releases();
    p.run(600);
    b.mustHold("served by the others");
    p.link(b, DOOR_OF_A).mend();
    p.run(100);
    require(p.node(DOOR_OF_A).model.lineLength("redlock:{a}") == 0, "B has left the line");
    b.releases();
    Play.Person c = p.person(2);
    c.wants(500);
    p.run(400);
    c.mustHold("nobody is in its way");
  }

  private static void triesOnce() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person b = p.person(1);
    b.tries();
    p.run(5);
    require(b.refusal != null && b.refusal.verdict() == AcquireReport.Verdict.HELD, "held");
    Play.Person c = p.person(0);
    c.tries();
    require(
        c.refusal != null && c.refusal.verdict() == AcquireReport.Verdict.HELD_LOCALLY,
        "by this very process");
  }

  /** A holder that measures its lease by the wall clock would hold it for another hour. */
  private static void wallSetBack() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(100);
    a.client.stepWall(-3_600_000);
    p.run(900);
    Play.Person b = p.person(1);
    b.tries();
    p.run(10);
    b.mustHold("A's keys have expired");
    a.mustNotHold("and with them its lease");
    require(a.end() == LeaseEnd.EXPIRED, "which was told");
  }

  /**
   * Two callers with nothing to do inside: the one that releases is back in the queue while the
   * other is still being granted, so that the lock is never freed between them.
   */
  private static void handOffAndBack() {
    Play p = new Play(3, 1, options()).start();
    Play.Person holder = p.person(0);
    holder.wants(100);
    p.run(5);
    Play.Person next = p.person(0);
    next.wants(400);
    for (int i = 0; i < 4; i++) {
      holder.releases();
      require(holder.released != null, "the rest is the next one's business");
      holder.mustNotHold("it is over at once");
      next.mustNotHold("the round has yet to run");
      Play.Person back = p.person(0);
      back.wants(400);
      p.run(5);
      next.mustHold("its turn");
      require(holder.end() == LeaseEnd.HANDED_OFF, "nothing was freed in between");
      holder = next;
      next = back;
    }
  }

  /** Six of one process wait, and one of another: it comes after one lease and two hand-offs. */
  private static void handOffsInARow() {
    Play p = new Play(3, 2, options().maxHandOffs(2)).start();
    Play.Person holder = p.person(0);
    holder.wants(100);
    p.run(5);
    Play.Person other = p.person(1);
    other.wants(9000);
    p.run(20);
    List<Play.Person> queue = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      queue.add(p.person(0).wants(9000));
    }
    p.run(20);
    int handOffs = 0;
    for (; !other.holds() && handOffs < 6; handOffs++) {
      holder.releases();
      for (int i = 0; i < 100 && !queue.get(0).holds() && !other.holds(); i++) {
        p.run(1);
      }
      if (!other.holds()) {
        holder = queue.remove(0).mustHold("the next of this process");
      }
    }
    other.mustHold("the other process waits for as long");
    require(handOffs == 3, "after one lease and two hand-offs, and not after " + handOffs);
  }

  private static void polls() {
    Play p = new Play(3, 2, options().leaseTime(Duration.ofSeconds(30))).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person b = p.person(1);
    p.deafen(b);
    b.wants(60_000);
    p.run(50);
    a.releases();
    p.run(1600);
    b.mustHold("a second and a half is the longest time between two polls");
  }

  private static void keysExpire() {
    Duration rarely = Duration.ofSeconds(10);
    Play p =
        new Play(3, 2, options().leaseTime(Duration.ofSeconds(30)).pollInterval(rarely)).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person b = p.person(1);
    p.deafen(b);
    b.wants(60_000);
    p.run(50);
    a.client.crash("dies");
    long left = p.node(1).model.expiresMillis("redlock:{a}") - p.node(1).clock() / 1000;
    p.run(left);
    b.mustNotHold("the keys of the dead are there");
    p.run(50);
    b.mustHold("the refusals have told how long");
  }

  /** Seed 717: two of five had the verdict; the others' answers were shown as "not asked". */
  private static void lateVotesShown() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person b = p.person(1);
    p.link(b, 3).holdReplies();
    b.wants(150);
    p.run(10);
    p.link(b, 3).letGo();
    p.run(150);
    require(b.refusal != null, "A has it");
    for (AcquireReport.NodeVote vote : b.refusal.votes()) {
      require(vote.vote() == Vote.HELD, "all three have said so: " + b.refusal.sentence());
    }
  }

  private static void closes() {
    Play p = new Play(3, 2, options().autoExtend(true)).start();
    Play.Person a = p.person(0);
    a.wants(100);
    p.run(5);
    Play.Person next = p.person(0);
    next.wants(5000);
    Play.Person b = p.person(1);
    b.wants(5000);
    p.run(50);
    p.world.clients[0].close();
    p.world.clients[1].close();
    require(a.end() == LeaseEnd.RELEASED, "released");
    require(next.refusal != null && b.refusal != null, "whoever waits is refused");
    p.run(300);
    for (SimClient client : p.world.clients) {
      for (SimLock lock : client.allLocks) {
        require(lock.machine.mayRetire(client.mono()), "nothing is left in memory");
      }
    }
    for (int n = 1; n <= 3; n++) {
      require(p.owner(n) == null, "nor on the nodes");
    }
  }
}
