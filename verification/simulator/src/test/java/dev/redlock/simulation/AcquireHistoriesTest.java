package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.AcquireVerdict;
import org.junit.jupiter.api.Test;

/** Votes and the verdicts of rounds. See {@link Histories}. */
class AcquireHistoriesTest {
  /** Votes expire: B has a vote of n1, and gets the vote of n2 much later. */
  @Test
  void round_olderThanNodeTimeout_isNotWon() {
    Play p = new Play(3, 1, options()).start();
    Play.Person b = p.person(0);
    p.link(b, 2).holdReplies();
    p.link(b, 3).holdRequests();
    b.wants(90);
    p.run(60);
    // The timer does not run: only the reply itself can end the round.
    b.client.pause(60 * Scenario.MS);
    p.link(b, 2).letGo();
    p.run(100);
    require(b.lease == null, "the deciding vote came after the node timeout");
    p.link(b, 3).letGo();
    p.run(50);
    require(
        p.owner(1) == null && p.owner(2) == null && p.owner(3) == null,
        "and all keys are rolled back");
  }

  /** The same on a machine that slept: its monotonic clock says that no time has passed. */
  @Test
  void round_ofSuspendedMachine_isNotWon() {
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

  /** The node may have lost a vote that it gave before its connection dropped. */
  @Test
  void vote_ofDroppedConnection_doesNotCount() {
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

  /** N = 3. It is B's turn. In the round that follows, only one node grants. */
  @Test
  void turn_isNoVote() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.person(1).wants(3000);
    p.run(20);
    int home = Play.HOME_OF_A;
    int other = home % 3 + 1;
    int third = other % 3 + 1;
    p.link(b, home).holdRequests();
    p.link(b, third).holdRequests();
    a.releases();
    p.run(20);
    require(
        p.owner(other) != null && p.owner(other).startsWith("B"),
        "the round has reached the other node");
    require(b.lease == null, "the turn and one grant are no quorum");
    p.link(b, home).letGo();
    p.link(b, third).letGo();
    p.run(300);
  }

  /** N = 3. n1 grants the first token late, n2 the second in time. */
  @Test
  void votes_ofTwoTokens_areNeverAddedUp() {
    Play p = new Play(3, 1, options());
    p.world.clocksUnknown = true;
    p.start();
    Play.Person a = p.person(0);
    // n1 grants any proposed token: a fresh node has no fence, and its clock is wrong.
    p.node(1).setClock(-1_760_000_000_000_000L + 1_500_000);
    p.link(a, 1).holdReplies();
    a.wants(90);
    p.run(5);
    require(p.fence(1) > 0, "n1 has granted the first token, which is rolled back");
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

  @Test
  void evenNumber_tie_isDecidedAtOnce() {
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
    require(
        p.world.history.everSent("A", "roll back"), "the tie is decided and rolled back at once");
    p.run(100);
    require(a.holds() != b.holds(), "one of the clients holds the lock soon after");
    (a.holds() ? a : b).releases();
    p.run(100);
  }

  /** The replies stay unread in the socket for longer than the lease. */
  @Test
  void reply_thatSatLongerThanTheLease_grantsNothing() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0).wants(5000);
    p.world.runUntil(p.world.now + 6 * Scenario.MS / 10);
    a.client.pause(1500 * Scenario.MS);
    p.run(1200);
    Play.Person b = p.person(1).tries();
    p.run(10);
    b.mustHold("A's keys have expired");
    p.run(400);
    a.mustNotHold("B has it");
    b.releases();
    p.run(500);
    a.mustHold("A has started another round");
  }

  @Test
  void tryAcquire_whileHeld_answersAtOnce() {
    Play p = new Play(3, 2, options()).start();
    p.asks(0, 100);
    Play.Person b = p.person(1).tries();
    p.run(5);
    require(b.refusal != null && b.refusal.verdict() == AcquireVerdict.HELD, "held");
    Play.Person c = p.person(0).tries();
    require(
        c.refusal != null && c.refusal.verdict() == AcquireVerdict.HELD_LOCALLY, "by this process");
  }

  /** The timer that ends the wait for the home node fires late; the votes must still count. */
  @Test
  void fairTry_whoseHomeNodeHangs_isGrantedByALateTimer() {
    Play p = new Play(3, 1, options().fair(true)).start();
    Play.Person b = p.person(0);
    p.link(b, Play.HOME_OF_A).holdRequests();
    b.tries();
    p.run(74);
    b.mustNotHold("the home node may know of others");
    b.client.pause(3 * Scenario.MS);
    p.run(25); // Until just before the node timeout.
    b.client.pause(3 * Scenario.MS);
    p.run(10);
    b.mustHold("the others have granted");
    p.link(b, Play.HOME_OF_A).letGo();
    p.run(300);
  }

  /** Seed 717: the round ended after two replies; the report showed the others as "not asked". */
  @Test
  void report_showsVotesThatCameAfterTheVerdict() {
    Play p = new Play(3, 2, options()).start();
    p.asks(0, 100);
    Play.Person b = p.person(1);
    p.link(b, 3).holdReplies();
    b.wants(150);
    p.run(10);
    p.link(b, 3).letGo();
    p.run(150);
    require(b.refusal != null, "A has it");
    for (AcquireReport.NodeVote vote : b.refusal.votes()) {
      require(vote.vote() == Vote.HELD, "all three nodes have refused: " + b.refusal.sentence());
    }
  }
}
