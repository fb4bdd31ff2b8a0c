package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;

import org.junit.jupiter.api.Test;

/** Nodes that reply with errors instead of executing requests. See {@link Histories}. */
class ErringHistoriesTest {
  private static void pairs(Play p, Play.Person person, int count) {
    for (int i = 0; i < count; i++) {
      person.wants(100);
      p.run(5);
      person.mustHold("two of three work").releases();
      p.run(5);
    }
  }

  @Test
  void nodeThatErrs_isAskedForNoLeaseUntilATrialSucceeds() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.node(1).refuse(true);
    pairs(p, a, 1); // Detects the error.
    long before = p.link(a, 1).sent;
    pairs(p, a, 200);
    require(p.link(a, 1).sent - before == 0, "nothing is sent but trials");
    p.node(1).refuse(false);
    p.run(250);
    a.wants(100);
    p.run(5);
    a.mustHold("all work");
    require(p.owner(1) != null, "and n1 gets acquires again");
  }

  @Test
  void nodeThatErrs_refusedAcquire_leavesNothingToRelease() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.node(1).refuse(true);
    p.node(2).refuse(true);
    a.tries();
    p.run(20);
    a.mustNotHold("one of three is no quorum");
    require(a.refusal != null, "refused at once");
    require(p.owner(3) == null, "rolled back where it was granted");
    require(a.client.lock(0).machine.pendingReleases() == 0, "n1 and n2 have executed nothing");
  }

  @Test
  void nodeThatErrs_hasItsLeasesReleasedWhenItWorks() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0).wants(100);
    p.run(20);
    a.mustHold("nothing goes wrong");
    p.node(1).refuse(true);
    a.releases();
    p.run(500);
    require(p.owner(1) != null, "n1 has not executed the release");
    require(a.client.lock(0).machine.pendingReleases() == 1, "and has a release pending");
    p.node(1).refuse(false);
    p.run(250);
    require(p.owner(1) == null, "released as soon as a trial has succeeded");
    require(a.client.lock(0).machine.pendingReleases() == 0, "and confirmed");
  }

  @Test
  void nodeThatErrs_getsHeldLeasesWhenItWorks() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.node(1).refuse(true);
    a.wants(100);
    p.run(20);
    a.mustHold("two of three work");
    p.node(1).refuse(false);
    p.run(250);
    require(
        p.owner(1) != null, "a lease on a bare quorum is one lost key away from a second owner");
  }

  @Test
  void acquire_withoutScript_isSentAgainInTheSameRound() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    for (int i = 0; i < 30; i++) {
      for (int n = 1; n <= 3; n++) {
        p.node(n).forgetScripts();
      }
      a.tries();
      p.run(10);
      a.mustHold("the script was sent with the request").releases();
      p.run(10);
      require(p.owner(1) == null && p.owner(2) == null && p.owner(3) == null, "and released");
    }
  }

  /** The round is cancelled while the NOSCRIPT replies are on their way. */
  @Test
  void acquire_withoutScript_isNotSentBehindItsRollBack() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    for (int n = 1; n <= 3; n++) {
      p.node(n).forgetScripts();
      p.link(a, n).holdReplies();
    }
    a.wants(20);
    p.run(15);
    require(a.cancels(), "no reply has come");
    p.run(5);
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).letGo();
    }
    p.run(20);
    require(p.owner(1) == null && p.owner(2) == null && p.owner(3) == null, "nothing is left");
    a.tries();
    p.run(20);
    a.mustHold("no other client has it");
  }
}
