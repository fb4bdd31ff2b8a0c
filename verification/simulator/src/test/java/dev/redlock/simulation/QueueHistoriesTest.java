package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;

import dev.redlock.LockOptions;
import dev.redlock.harness.model.NodeModel;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Waiting processes: fair mode, polls and expiry. See {@link Histories}. */
class QueueHistoriesTest {
  @Test
  void fairMode_servesInOrderOfArrival() {
    Play p = new Play(3, 4, options().fair(true)).start();
    Play.Person first = p.asks(0, 100);
    Play.Person[] queue = {p.person(2), p.person(1), p.person(3)};
    for (Play.Person person : queue) {
      person.wants(9000);
      p.run(30);
    }
    first.releases();
    for (int i = 0; i < queue.length; i++) {
      p.run(600);
      queue[i].mustHold("entry " + i + " of the queue");
      for (int j = i + 1; j < queue.length; j++) {
        queue[j].mustNotHold("it is not its turn");
      }
      queue[i].releases();
    }
    p.run(100);
  }

  /** B holds, and its next caller came before A's: B's release must not wake A. */
  @Test
  void fairMode_nextCallerOfTheHoldersProcess_isNotOvertaken() {
    Play p = new Play(3, 2, options().fair(true)).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.person(1).wants(5000);
    p.run(20);
    Play.Person next = p.person(1).wants(5000);
    p.run(20);
    Play.Person last = p.person(0).wants(5000);
    p.run(20);
    a.releases();
    p.run(100);
    b.mustHold("it came first");
    long asked = asked(p);
    b.releases();
    p.run(100);
    next.mustHold("it came second");
    require(asked(p) == asked, "A sleeps on");
    next.releases();
    p.run(100);
    last.mustHold("it came last");
  }

  /** How many rounds to all nodes A has sent. */
  private static long asked(Play p) {
    return p.world.history.rows.stream()
        .filter(row -> row.actor().equals("A") && row.what().matches("→ .* acquire .*"))
        .count();
  }

  /** C asked before B. Its request reaches the home node after the home node has admitted B. */
  @Test
  void fairMode_whoWasAdmitted_isNotUndoneByWhoAsksLater() {
    Play p = new Play(3, 3, options().fair(true)).start();
    Play.Person a = p.asks(0, 100);
    Play.Person c = p.person(2);
    for (int n = 1; n <= 3; n++) {
      p.link(c, n).holdRequests();
    }
    c.wants(5000);
    p.run(10);
    Play.Person b = p.person(1).wants(5000);
    p.run(20);
    a.releases();
    for (int i = 0; i < 200 && !p.world.history.lastSent("B", "acquire", "queued ttl 1000"); i++) {
      p.world.runUntil(p.world.now + Scenario.MS / 10);
    }
    p.world.runUntil(p.world.now + 6 * Scenario.MS / 10);
    p.link(c, Play.HOME_OF_A).letGo();
    p.link(b, Play.HOME_OF_A % 3 + 1).holdReplies();
    p.link(b, (Play.HOME_OF_A + 1) % 3 + 1).holdReplies();
    p.run(3);
    p.link(b, Play.HOME_OF_A % 3 + 1).letGo();
    p.link(b, (Play.HOME_OF_A + 1) % 3 + 1).letGo();
    p.run(2);
    b.mustHold("the home node had woken B").releases();
    p.link(c, Play.HOME_OF_A % 3 + 1).letGo();
    p.link(c, (Play.HOME_OF_A + 1) % 3 + 1).letGo();
    p.run(600);
    c.mustHold("and C is next");
  }

  /**
   * The release has reached the home node, and is still on its way to the others. The home node
   * wakes B, and B loses the round. B must not lose its place to C when its round is rolled back.
   */
  @Test
  void fairMode_woken_thatLosesTheRound_keepsItsPlace() {
    Play p = new Play(3, 3, options().fair(true)).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.person(1).wants(5000);
    p.run(20);
    Play.Person c = p.person(2).wants(5000);
    p.run(20);
    p.link(a, Play.HOME_OF_A % 3 + 1).holdRequests();
    p.link(a, (Play.HOME_OF_A + 1) % 3 + 1).holdRequests();
    a.releases();
    for (int i = 0; i < 200 && !p.world.history.everSent("B", "roll back B.2"); i++) {
      p.world.runUntil(p.world.now + Scenario.MS / 10);
    }
    require(p.world.history.everSent("B", "roll back B.2"), "B was woken and lost the round");
    p.run(1);
    p.link(a, Play.HOME_OF_A % 3 + 1).letGo();
    p.link(a, (Play.HOME_OF_A + 1) % 3 + 1).letGo();
    p.run(6);
    require(!p.world.history.everSent("C", "acquire C.2"), "it is not C's turn");
    b.mustHold("it is first in the queue").releases();
    p.run(50);
    c.mustHold("and then it is C's turn");
  }

  /** B is queued at the home node, and then cannot reach it. The other nodes grant B the lock. */
  @Test
  void fairMode_leavesTheQueueOfAFormerHomeNode() {
    Play p = new Play(3, 3, options().fair(true)).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.person(1).wants(5000);
    p.run(50);
    require(
        p.node(Play.HOME_OF_A).model.queueLength("redlock:{a}") == 1,
        "B is queued at the home node");
    p.link(b, Play.HOME_OF_A).cut();
    p.run(1);
    a.releases();
    p.run(600);
    b.mustHold("served by the others");
    p.link(b, Play.HOME_OF_A).mend();
    p.run(100);
    require(p.node(Play.HOME_OF_A).model.queueLength("redlock:{a}") == 0, "B has left the queue");
    b.releases();
    Play.Person c = p.person(2).wants(500);
    p.run(400);
    c.mustHold("no queue entry is before it");
  }

  /** Seed 2519 of FAST_CLOCKS: B asked the hung node again and again to queue it. */
  @Test
  void fairMode_homeNodeHangs_isReplacedByTheNext() {
    Play p = new Play(3, 2, options().fair(true)).start();
    Play.Person a = p.asks(0, 100);
    p.link(p.person(1), Play.HOME_OF_A).holdRequests();
    Play.Person b = p.person(1).wants(5000);
    p.run(400);
    a.releases();
    p.run(400);
    b.mustHold("the others have a quorum");
  }

  /** A holds, B and C are queued; B dies. Its turn passes, and C is next. */
  @Test
  void first_thatDied_isPassedOverByTheSecond() {
    Play p = new Play(3, 3, options().leaseTime(Duration.ofSeconds(30))).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.asks(1, 60_000);
    Play.Person c = p.asks(2, 60_000);
    b.client.crash("dies");
    p.run(5);
    a.releases();
    p.run(5);
    c.mustNotHold("it is B's turn");
    p.run(25);
    c.mustHold("B was silent for longer than the patience");
  }

  /** B died while it waited. Callers that try once never enter the queue, and pass B over. */
  @Test
  void first_thatDied_isPassedOverByATry() {
    Play p = new Play(3, 3, options().leaseTime(Duration.ofSeconds(30))).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.asks(1, 60_000);
    b.client.crash("dies");
    p.run(5);
    // The home node decides first. Otherwise the two others might decide.
    p.link(p.person(2), Play.HOME_OF_A % 3 + 1).far = 2 * Scenario.MS;
    p.link(p.person(2), (Play.HOME_OF_A + 1) % 3 + 1).far = 2 * Scenario.MS;
    a.releases();
    p.run(250);
    Play.Person c = p.person(2).tries();
    p.run(50);
    c.mustNotHold("it is B's turn");
    p.run(200);
    c = p.person(2);
    c.tries();
    p.run(50);
    c.mustHold("B was silent for longer than a try is patient");
  }

  /** A machine with many waiting processes fails. A release wakes only the first of them. */
  @Test
  void manyThatDied_arePassedOverOneAfterAnother() {
    int dead = 4; // A release wakes the last of a longer queue too.
    Play p = new Play(3, dead + 2, options().leaseTime(Duration.ofSeconds(30))).start();
    Play.Person a = p.asks(0, 100);
    for (int i = 1; i <= dead; i++) {
      p.person(i).wants(60_000);
      p.run(5);
    }
    Play.Person last = p.person(dead + 1).wants(60_000);
    p.run(5);
    for (int i = 1; i <= dead; i++) {
      p.world.clients[i].crash("dies");
    }
    p.run(5);
    a.releases();
    // One poll of up to 1.625 s with four places before it; then a patience for each of the groups
    // of one and four processes.
    p.run(2_300);
    last.mustHold("the others are gone");
  }

  /** No process that died answers, and a release wakes two of them. It also wakes the last. */
  @Test
  void processThatWaits_behindManyThatDied_waitsForAFewPatiences() {
    for (boolean fair : new boolean[] {false, true}) {
      for (int dead : new int[] {6, 20, 90}) {
        LockOptions.Builder options = options().fair(fair).leaseTime(Duration.ofSeconds(30));
        Play p = new Play(3, dead + 2, options).start();
        Play.Person a = p.asks(0, 100);
        for (int i = 1; i <= dead; i++) {
          p.person(i).wants(60_000);
          p.run(2);
        }
        Play.Person last = p.person(dead + 1).wants(60_000);
        p.run(5);
        for (int i = 1; i <= dead; i++) {
          p.world.clients[i].crash("dies");
        }
        a.releases();
        p.run(1_000);
        last.mustHold(dead + " have died");
      }
    }
  }

  /**
   * One process after another is told of its turn. If each of those that died cost a patience, the
   * lock would be closed for longer, the more have died.
   */
  @Test
  void newcomer_behindManyThatDied_waitsForAFewPatiences() {
    for (boolean fair : new boolean[] {false, true}) {
      int dead = 60;
      Play p =
          new Play(3, dead + 2, options().fair(fair).leaseTime(Duration.ofSeconds(30))).start();
      Play.Person a = p.asks(0, 100);
      for (int i = 1; i <= dead; i++) {
        p.person(i).wants(60_000);
        p.run(2);
      }
      for (int i = 1; i <= dead; i++) {
        p.world.clients[i].crash("dies");
      }
      a.releases();
      p.run(5);
      Play.Person newcomer = p.person(dead + 1).wants(60_000);
      p.run(900);
      newcomer.mustHold("60 have died");
    }
  }

  /** Every second process has died. The others are served in their order. */
  @Test
  void livingProcesses_amongMany_thatDied_keepTheirOrder() {
    int processes = 24;
    Play p = new Play(3, processes + 1, options().leaseTime(Duration.ofSeconds(30))).start();
    Play.Person a = p.asks(0, 100);
    Play.Person[] all = new Play.Person[processes + 1];
    for (int i = 1; i <= processes; i++) {
      all[i] = p.person(i).wants(60_000);
      p.run(5);
    }
    for (int i = 1; i <= processes; i += 2) {
      p.world.clients[i].crash("dies");
    }
    a.releases();
    for (int i = 2; i <= processes; i += 2) {
      Play.Person next = all[i];
      for (int ms = 0; ms < 200 && !next.holds(); ms++) {
        p.run(1);
        for (int later = i + 2; later <= processes; later += 2) {
          all[later].mustNotHold("process " + i + " came before");
        }
      }
      next.mustHold("it is its turn").releases();
    }
    p.run(50);
  }

  /** A standby crashes again and again while another process holds the lock. */
  @Test
  void processesThatDied_whileTheLockIsHeld_leaveTheQueue() {
    int dead = 30;
    Play p = new Play(3, dead + 2, options().leaseTime(Duration.ofSeconds(100))).start();
    Play.Person a = p.asks(0, 100);
    Play.Person standby = p.asks(dead + 1, 1_000_000);
    for (int i = 1; i <= dead; i++) {
      p.person(i).wants(60_000);
      p.run(10);
      p.world.clients[i].crash("dies");
      p.run(490);
    }
    NodeModel home = p.node(Play.HOME_OF_A).model;
    require(home.queueLength("redlock:{a}") < 10, "the newest only");
    p.run(5_000);
    require(home.queueLength("redlock:{a}") == 1, "the standby is alive");
    a.releases();
    p.run(5);
    standby.mustHold("no dead process is before it");
  }

  /**
   * Processes that took another node for the home node were queued there, and died. That queue
   * would refuse the process whose turn it is.
   */
  @Test
  void turn_isNotDelayedByTheQueuesOfOtherNodes() {
    Play p = new Play(3, 6, options().leaseTime(Duration.ofSeconds(30))).start();
    Play.Person a = p.asks(0, 100);
    for (int i = 2; i < 6; i++) {
      p.link(p.person(i), Play.HOME_OF_A).cut();
      p.run(1);
      p.person(i).wants(60_000);
      p.run(5);
    }
    for (int i = 2; i < 6; i++) {
      p.world.clients[i].crash("dies");
    }
    Play.Person b = p.asks(1, 60_000);
    p.link(b, Play.HOME_OF_A).far = Scenario.MS; // The others reply first.
    p.run(20);
    int elsewhere = 0;
    for (int n = 1; n <= 3; n++) {
      elsewhere += n == Play.HOME_OF_A ? 0 : p.node(n).model.queueLength("redlock:{a}");
    }
    require(elsewhere == 4, "another node has a queue of " + elsewhere);
    a.releases();
    p.run(10);
    b.mustHold("it is the first at the home node");
  }

  /** Its sign of life has expired while it was paused. It returns with its old arrival. */
  @Test
  void process_thatWasPausedForLongerThanItCountsAsAlive_isQueuedAgain() {
    Play p = new Play(3, 4, options().leaseTime(Duration.ofSeconds(60))).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.asks(1, 100_000);
    Play.Person c = p.asks(2, 100_000);
    b.client.pause(8 * Scenario.SECOND);
    p.run(7_900);
    NodeModel home = p.node(Play.HOME_OF_A).model;
    require(home.queueLength("redlock:{a}") == 1, "only C has shown that it is alive");
    p.run(3_000);
    require(home.queueLength("redlock:{a}") == 2, "B is back");
    a.releases();
    p.run(5);
    b.mustHold("it came first").releases();
    p.run(5);
    c.mustHold("it came second");
  }

  /** With its arrival in the future, B would be behind all that come within a minute. */
  @Test
  void clockOfTheHomeNode_thatIsSetBack_doesNotStarveAWaiter() {
    for (boolean fair : new boolean[] {false, true}) {
      Play p = new Play(3, 4, options().fair(fair).leaseTime(Duration.ofSeconds(60))).start();
      Play.Person a = p.asks(0, 100);
      Play.Person b = p.asks(1, 100_000);
      p.node(Play.HOME_OF_A).step(-60_000_000L);
      p.run(3_000); // B polls.
      Play.Person c = p.asks(2, 100_000);
      p.run(2_000);
      a.releases();
      p.run(300);
      b.mustHold("it came before C").releases();
      p.run(300);
      c.mustHold("it is the only one left");
    }
  }

  /** B is 100 ms away. C is near, and its patience is over before B can ask. */
  @Test
  void first_thatIsFarAway_isNotPassedOverByANearOne() {
    for (boolean fair : new boolean[] {false, true}) {
      LockOptions.Builder options =
          options().fair(fair).leaseTime(Duration.ofSeconds(30)).nodeTimeout(Duration.ofSeconds(1));
      Play p = new Play(3, 3, options);
      for (SimLink link : p.world.clients[1].links) {
        link.far = 50 * Scenario.MS;
      }
      p.start();
      p.run(1_000);
      Play.Person b = p.person(1);
      for (int i = 0; i < 10; i++) { // B learns how far it is from the home node.
        b.wants(1_000);
        p.run(300);
        b.releases();
        p.run(300);
      }
      Play.Person a = p.asks(0, 100);
      b.wants(60_000);
      p.run(600);
      Play.Person c = p.asks(2, 60_000);
      a.releases();
      p.run(80);
      c.mustNotHold("it is B's turn");
      p.run(300);
      b.mustHold("it was first").releases();
      p.run(200);
      c.mustHold("and now it is C's turn");
    }
  }

  /** B has died. The clock was then set back, so the time in B's wake key is in the future. */
  @Test
  void first_thatDied_beforeTheClockWasSetBack_isPassedOver() {
    Play p = new Play(3, 3, options().leaseTime(Duration.ofSeconds(30))).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.asks(1, 60_000);
    Play.Person c = p.asks(2, 60_000);
    b.client.crash("dies");
    p.run(5);
    a.releases();
    p.run(2);
    p.node(Play.HOME_OF_A).step(-600_000_000L);
    p.run(1_600);
    c.mustHold("no wait is as long as the step of the clock");
  }

  /** The home node has woken B, whose request is slow. D comes, and does not pass B over. */
  @Test
  void newcomer_whileItIsAnothersTurn_waits() {
    Play p = new Play(3, 3, options().leaseTime(Duration.ofSeconds(30))).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.asks(1, 60_000);
    for (int n = 1; n <= 3; n++) {
      p.link(b, n).holdRequests();
    }
    a.releases();
    p.run(2);
    Play.Person c = p.person(2).wants(60_000);
    p.run(4);
    c.mustNotHold("it is B's turn");
    for (int n = 1; n <= 3; n++) {
      p.link(b, n).letGo();
    }
    p.run(4);
    b.mustHold("its turn has not passed").releases();
    p.run(4);
    c.mustHold("and now it is C's turn");
  }

  /** B holds the lock for a shorter time than C needs to be queued again. */
  @Test
  void queue_afterAGrant_isStillKnownToTheNextRelease() {
    Play p = new Play(3, 3, options().leaseTime(Duration.ofSeconds(30))).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.asks(1, 60_000);
    Play.Person c = p.asks(2, 60_000);
    a.releases();
    p.run(3);
    b.mustHold("it was first").releases();
    p.run(3);
    c.mustHold("woken by B's release");
  }

  @Test
  void process_thatKnowsOfOthers_isQueuedBeforeItAsks() {
    Play p = new Play(3, 2, options().leaseTime(Duration.ofSeconds(30))).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.asks(1, 60_000);
    a.releases();
    p.run(1);
    Play.Person next = p.person(0).wants(60_000);
    require(p.world.history.lastSent("A", "enqueue"), "the replies to the release tell of B");
    p.run(4);
    b.mustHold("it was first").releases();
    p.run(4);
    next.mustHold("and is not overtaken");
  }

  @Test
  void process_thatServedItsShareOfCallers_needsTheHomeNode() {
    Play p = new Play(3, 2, options().autoExtend(true).maxHandOffs(1)).start();
    Play.Person first = p.asks(0, 100);
    Play.Person second = p.person(0).wants(5000);
    Play.Person third = p.person(0).wants(5000);
    first.releases();
    p.run(3);
    second.mustHold("handed off");
    SimLink home = p.link(first, Play.HOME_OF_A);
    home.holdReplies();
    second.releases();
    require(p.world.history.lastSent("A", "acquire"), "no other process is known");
    p.run(4);
    require(!third.holds(), "no node was asked for others for a while");
    home.letGo();
    p.run(4);
    third.mustHold("there was no other process");
  }

  /**
   * Otherwise it would have the votes of the near nodes during a long round trip of the far one,
   * while no client has the lock.
   */
  @Test
  void process_thatServedItsShareOfCallers_isQueuedFirstAtAHomeNodeThatIsFar() {
    Play p = new Play(3, 1, options().autoExtend(true).maxHandOffs(1));
    p.world.clients[0].links[Play.HOME_OF_A - 1].far = 20 * Scenario.MS;
    p.start();
    p.run(500);
    Play.Person first = p.person(0);
    for (int i = 0; i < 20; i++) {
      first.wants(1000);
      p.run(60);
      first.releases();
      p.run(60);
    }
    first.wants(1000);
    p.run(60);
    Play.Person second = p.person(0).wants(5000);
    Play.Person third = p.person(0).wants(5000);
    first.releases();
    p.run(5);
    second.mustHold("handed off").releases();
    require(p.world.history.lastSent("A", "enqueue"), "the home node is far");
    p.run(200);
    third.mustHold("there was no other process");
  }

  @Test
  void singleTry_behindTheShareOfCallers_doesNotNeedTheHomeNode() {
    Play p = new Play(3, 1, options().autoExtend(true).maxHandOffs(1)).start();
    Play.Person first = p.asks(0, 100);
    Play.Person second = p.person(0).wants(5000);
    first.releases();
    p.run(3);
    second.mustHold("handed off");
    SimLink home = p.link(first, Play.HOME_OF_A);
    home.holdRequests();
    second.releases();
    Play.Person third = p.person(0).tries();
    p.run(5);
    third.mustHold("two of three granted");
    home.letGo();
    p.run(50);
  }

  @Test
  void process_thatServedItsShareOfCallers_letsAnotherComeThatItDidNotKnowOf() {
    Play p = new Play(3, 2, options().autoExtend(true).maxHandOffs(1)).start();
    Play.Person first = p.asks(0, 100);
    Play.Person second = p.person(0).wants(5000);
    Play.Person third = p.person(0).wants(5000);
    first.releases();
    p.run(3);
    second.mustHold("handed off");
    Play.Person b = p.person(1).wants(5000);
    p.run(5);
    second.releases();
    p.run(6);
    b.mustHold("it came before the third caller asked").releases();
    p.run(6);
    third.mustHold("it is the only one left");
  }

  /**
   * The home node replies to the other locks of the client all the time, so it does not seem to
   * hang.
   */
  @Test
  void homeNode_thatQueuesNone_isNotAskedWithoutEnd() {
    Play p = new Play(3, 2, options().leaseTime(Duration.ofSeconds(30))).start();
    p.node(Play.HOME_OF_A).queuesNone = true;
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.person(1).wants(60_000);
    for (int i = 0; i < 600; i++) {
      p.run(10);
      long now = b.client.mono();
      b.client.heard(Play.HOME_OF_A - 1, now - Scenario.MS, now, 0);
      if (i == 200) {
        a.releases();
      }
    }
    b.mustHold("the lock has been free for seconds");
  }

  @Test
  void waiter_thatHearsNothing_asksAgainSoonAfterTheRelease() {
    Play p = new Play(3, 2, options().leaseTime(Duration.ofSeconds(30))).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.person(1);
    p.deafen(b);
    b.wants(60_000);
    p.run(50);
    a.releases();
    p.run(1600);
    b.mustHold("a second and a half is the longest time between two polls");
  }

  @Test
  void waiter_whoseHolderDied_asksWhenTheKeysHaveExpired() {
    Duration rarely = Duration.ofSeconds(10);
    Play p =
        new Play(3, 2, options().leaseTime(Duration.ofSeconds(30)).pollInterval(rarely)).start();
    Play.Person a = p.asks(0, 100);
    Play.Person b = p.person(1);
    p.deafen(b);
    b.wants(60_000);
    p.run(50);
    a.client.crash("dies");
    long left = p.node(1).model.expiresMillis("redlock:{a}") - p.node(1).clock() / 1000;
    p.run(left);
    b.mustNotHold("the keys of the dead holder are there");
    p.run(50);
    b.mustHold("the refusals contained the remaining life");
  }
}
