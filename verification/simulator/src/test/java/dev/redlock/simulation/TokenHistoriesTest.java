package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;

import dev.redlock.AcquireVerdict;
import dev.redlock.harness.model.NodeModel;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply.Code;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Fencing tokens, fences and clocks of nodes. See {@link Histories}. */
class TokenHistoriesTest {
  @Test
  void clocks_apart_secondRoundWins() {
    Play p = new Play(3, 1, options());
    p.world.clocksUnknown = true;
    p.node(1).setClock(-900_000);
    p.node(3).setClock(900_000);
    p.start();
    Play.Person a = p.person(0).tries();
    p.run(5);
    a.mustHold("the second round has a token that a quorum accepts").releases();
    p.run(10);
    Play.Person b = p.person(0).tries();
    p.run(3);
    b.mustHold("the client knows the clocks");
  }

  /**
   * Found by MixedRunIT: the home node's clock was half a minute ahead, and rejected a waiter's
   * token. The waiter proposed a token that only this clock accepted, and the home node stored it.
   * When its clock was right again, it refused all tokens for half a minute. Two other masters
   * died, and no client had a quorum.
   */
  @Test
  void clockOfTheHomeNode_wasFarAheadForAWhile_doesNotBarItLater() {
    Play p = new Play(3, 2, options().leaseTime(Duration.ofSeconds(5)).autoExtend(true)).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.person(1).wants(5000);
    p.run(20);
    p.node(Play.HOME_OF_A).step(29_000_000);
    p.run(20);
    a.releases();
    p.run(500);
    b.mustHold("the clocks of the two others are right").releases();
    p.run(50);
    p.node(Play.HOME_OF_A).step(-29_000_000);
    p.run(50);
    p.node(Play.HOME_OF_A % 3 + 1).crash(SimNode.Kept.ALL, 1000);
    p.run(50);
    b.wants(500);
    p.run(500);
    b.mustHold("the clocks of the home node and of the third are right");
  }

  @Test
  void fence_afterFailedRound_staysRaised() {
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

  @Test
  void fence_equalToken_isGrantedToItsOwnerOnly() {
    NodeModel m = new NodeModel(60_000);
    long now = 1_760_000_000_000_000L;
    require(Play.acquire(m, "x", now, now).code() == Code.GRANTED, "free");
    require(Play.acquire(m, "x", now, now).code() == Code.GRANTED, "a repeat");
    require(Play.acquire(m, "y", now, now).code() == Code.HELD, "the key of another lease");
    m.execute(new LockRequest.Release(Play.A, "x", now, true, 0, null), 1, 1, now);
    require(
        Play.acquire(m, "y", now, now).code() == Code.STALE,
        "an equal token is not above the fence");
    require(Play.acquire(m, "x", now, now).code() == Code.STALE, "not even for its owner, now");
    require(Play.acquire(m, "y", now + 1, now).code() == Code.GRANTED, "above");
    long late = now + 1_002_000;
    require(Play.acquire(m, "z", now - 2_000_000, late).code() == Code.STALE, "below the window");
    require(Play.acquire(m, "z", late + 2_000_001, late).code() == Code.STALE, "above the window");
    require(Play.acquire(m, "z", late + 2_000_000, late).code() == Code.GRANTED, "in the window");
  }

  /**
   * N = 3, F1 of the hazards: A is granted by n1 and n3, n3 loses its keys, and B, whose clock is
   * behind, asks n2 and n3.
   */
  @Test
  void token_ofSlowClient_isRaisedAboveWhatNodeForgot() {
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
    // B assumes that the nodes' clocks are ten seconds behind.
    for (int i = 0; i < 3; i++) {
      long now = b.client.mono();
      b.client.heard(i, now, now, token - 10_000_000);
    }
    b.wants(300);
    p.run(200);
    b.mustHold("the second round has a higher token");
    require(b.lease.token() > token, "above the token that n3 lost");
  }

  /**
   * Seed 613 of LONG_ROUNDS: a client was paused between its reading of the clock and the network.
   * It then assumed that the nodes were seven seconds ahead. From its first proposal on none of its
   * tokens was in any window.
   */
  @Test
  void token_ofMisledClient_doesNotBarTheNext() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    for (int i = 0; i < 3; i++) {
      long now = a.client.mono();
      a.client.heard(i, now, now, p.node(i + 1).clock() + 7_000_000);
    }
    a.wants(500);
    p.run(300);
    a.mustHold("the first replies contain the nodes' clocks");
  }

  /** The clocks of n1 and n2 were set back by five seconds: no token suits them any more. */
  @Test
  void token_thatOnlyOneFastClockAccepts_isNotProposed() {
    Play p = new Play(3, 2, options());
    p.world.clocksUnknown = true;
    p.start();
    Play.Person a = p.person(0).wants(100);
    p.run(20);
    a.mustHold("all is well").releases();
    p.run(20);
    long fence = p.fence(3);
    p.node(1).setClock(-5_000_000);
    p.node(2).setClock(-5_000_000);
    Play.Person b = p.person(1);
    p.link(b, 2).holdReplies();
    p.link(b, 3).holdReplies();
    b.tries();
    p.run(2);
    p.link(b, 3).letGo();
    p.run(2);
    p.link(b, 2).letGo();
    p.run(50);
    require(p.fence(3) == fence, "n3 would refuse what the others grant until they catch up");
  }

  /**
   * Found by RedlockLockProviderTest: eight threads of two processes tried all the time, and one of
   * them received the report that the clocks of the nodes differ. Other threads were granted the
   * lock twice during its attempt.
   */
  @Test
  void singleTry_isOvertakenAgainAndAgain_reportsACollision() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    Play.Person b = p.person(1);
    holdRequests(p, a);
    a.tries();
    for (int i = 0; i < 4; i++) {
      require(a.refusal == null, "two attempts of two rounds each");
      b.wants(100);
      p.run(20);
      b.mustHold("no other client asks").releases();
      p.run(20);
      letGo(p, a);
      holdRequests(p, a);
      p.run(40); // Its second attempt comes after a pause.
    }
    require(a.refusal != null, "a single try ends");
    require(a.refusal.verdict() == AcquireVerdict.COLLIDED, a.refusal.sentence());
    letGo(p, a);
    p.run(100);
  }

  @Test
  void singleTry_isOvertakenTwice_winsWithTheSecondAttempt() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    Play.Person b = p.person(1);
    holdRequests(p, a);
    a.tries();
    for (int i = 0; i < 2; i++) {
      b.wants(100);
      p.run(20);
      b.releases();
      p.run(20);
      letGo(p, a);
      holdRequests(p, a);
      p.run(5);
    }
    letGo(p, a);
    p.run(10);
    a.mustHold("all nodes accept the third token");
  }

  @Test
  void singleTry_clocksApartAndANodeHangs_reportsTheTokens() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.node(1).step(-10_000_000L);
    p.run(50);
    p.link(a, 3).holdRequests();
    a.tries();
    p.run(500);
    require(a.refusal != null, "a single try ends");
    require(a.refusal.verdict() == AcquireVerdict.STALE, a.refusal.sentence());
    require(a.refusal.rounds() == 2, "one attempt of two rounds");
    p.link(a, 3).letGo();
    p.run(100);
  }

  private static void holdRequests(Play p, Play.Person person) {
    for (int node = 1; node <= 3; node++) {
      p.link(person, node).holdRequests();
    }
  }

  private static void letGo(Play p, Play.Person person) {
    for (int node = 1; node <= 3; node++) {
      p.link(person, node).letGo();
    }
  }
}
