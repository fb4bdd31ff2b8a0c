package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;

import dev.redlock.LeaseEnd;
import dev.redlock.harness.model.NodeModel;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply.Code;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Extension, repair, checks, cap and the end of validity. See {@link Histories}. */
class ExtendHistoriesTest {
  /** H10: A's key is gone at n1, B has the lock there and frees it, A extends. */
  @Test
  void extend_afterAnotherLeaseCameAndWent_isRefused() {
    NodeModel m = new NodeModel(60_000);
    long now = 1_760_000_000_000_000L;
    Play.acquire(m, "a", now, now);
    m.delete("redlock:{a}");
    require(Play.acquire(m, "b", now + 1, now).code() == Code.GRANTED, "free");
    m.execute(new LockRequest.Release(Play.A, "b", now + 1, true, 0, null), 1, 1, now);
    LockRequest.Extend extend = new LockRequest.Extend(Play.A, "a", now, 1000);
    require(m.execute(extend, 1, 1, now).code() == Code.LOST, "a later lease has ended");
    Play.acquire(m, "c", now + 2, now);
    require(m.execute(extend, 1, 1, now).code() == Code.LOST, "the key of another lease");
    require("c".equals(m.owner("redlock:{a}", now)), "which stays");
  }

  @Test
  void extend_ofExpiredLease_doesNotReviveIt() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0).wants(100);
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
    a.mustNotHold("its validity ended before the replies were read");
    require(a.end() == LeaseEnd.EXPIRED, "and the holder was told so");
    p.run(100);
    Play.Person b = p.person(1).tries();
    p.run(10);
    b.mustHold("an expired lease is cleaned up like a released one");
  }

  @Test
  void extend_byMinority_leavesTheDeadline() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0).wants(100);
    p.run(400);
    long before = a.lease.validity().deadlineNanos();
    p.link(a, 2).holdRequests();
    p.link(a, 3).holdRequests();
    a.extends_();
    p.run(150);
    require(a.lease.validity().deadlineNanos() == before, "one of three extends nothing");
    require(a.extended != null && a.extended.failure() != null, "and the caller is told");
    p.run(500);
    require(a.end() == LeaseEnd.EXPIRED, "the old deadline is unchanged");
    p.link(a, 2).letGo();
    p.link(a, 3).letGo();
    p.run(100);
  }

  @Test
  void extension_isSetAgainNotAdded() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0).wants(100);
    p.run(100);
    a.extends_();
    p.run(10);
    long left = p.node(1).model.expiresMillis("redlock:{a}") - p.node(1).clock() / 1000;
    require(left <= 1000 && left > 950, "the key lives for the lease time from now, not for more");
    require(a.client.remaining(a.lease) <= 988 * Scenario.MS, "and validity is less than that");
  }

  @Test
  void lease_withoutAnyReply_endsInTime() {
    Play p = new Play(3, 1, options().autoExtend(true)).start();
    Play.Person a = p.asks(0, 100);
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).holdRequests();
    }
    long deadline = a.lease.validity().deadlineNanos();
    p.run(970);
    a.mustHold("until the deadline");
    p.world.runUntil(p.world.now + deadline - a.client.mono() + 1);
    require(a.end() == LeaseEnd.EXPIRED, "the holder was told in time, without any reply");
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).letGo();
    }
    p.run(100);
  }

  @Test
  void cap_endsTheLeaseThere() {
    Play p = new Play(3, 2, options().autoExtend(true).holdCap(Duration.ofMillis(2500))).start();
    Play.Person a = p.person(0).wants(100);
    p.run(2400);
    a.mustHold("extended until the cap");
    p.run(110);
    a.mustNotHold("and no longer");
    require(a.end() == LeaseEnd.CAP_REACHED, "and the holder was told why");
    p.run(20);
    Play.Person b = p.person(1).tries();
    p.run(5);
    b.mustHold("a capped lease is cleaned up");
  }

  @Test
  void extension_atTheCap_confirmsWhatIsLeft() {
    Play p = new Play(3, 1, options().holdCap(Duration.ofSeconds(1))).start();
    Play.Person a = p.person(0).wants(100);
    p.run(100);
    a.extends_(); // It adds only the drift allowance, up to the cap.
    p.run(10);
    long before = a.client.remaining(a.lease);
    a.extended = null;
    a.extends_();
    p.run(10);
    require(
        a.extended != null && a.extended.failure() == null && a.extended.ended() == null,
        "the nodes confirm it");
    a.mustHold("it has not ended");
    require(a.client.remaining(a.lease) <= before, "and gains nothing");
    p.run(1000);
    a.mustNotHold("past the cap");
    require(a.end() == LeaseEnd.CAP_REACHED, "and the holder was told why");
  }

  /**
   * Seed 1294830: an operator's break reached the home node alone. A waiter was admitted there,
   * failed at the others and rolled back. The home node sent the holder an invalidation, and the
   * holder checked its lease. The extension of the holder caused invalidations for the waiters, and
   * they asked again. This repeated fifty times a second until the lease ended.
   */
  @Test
  void lease_lostAtTheHomeNodeOnly_doesNotStartAStorm() {
    Play p = new Play(3, 3, options().autoExtend(true)).start();
    Play.Person a = p.asks(0, 100);
    Play.Person operator = p.person(1);
    p.link(operator, Play.HOME_OF_A % 3 + 1).cut();
    p.link(operator, (Play.HOME_OF_A + 1) % 3 + 1).cut();
    operator.client.operate(0, true);
    p.run(50);
    p.link(operator, Play.HOME_OF_A % 3 + 1).mend();
    p.link(operator, (Play.HOME_OF_A + 1) % 3 + 1).mend();
    p.person(1).wants(60_000);
    p.person(2).wants(60_000);
    p.run(200);
    long before = p.world.events;
    p.run(5000);
    long events = p.world.events - before;
    a.mustHold("n1 and n3 are a quorum");
    require(events < 570, events + " events in five seconds in which nothing changed");
  }

  @Test
  void lease_isRepairedWhereNodeWasQuarantined() {
    Play p = new Play(3, 2, options().autoExtend(true)).start();
    Play.Person a = p.person(0);
    p.node(1).crash(SimNode.Kept.NOTHING, 10);
    p.run(800);
    a.wants(100);
    p.run(25);
    a.mustHold("n2 and n3");
    require(a.lease.id().equals(p.owner(1)), "n1 stores it although it does not vote");
  }

  @Test
  void brokenLock_isToldToItsHolder() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.asks(0, 100);
    Play.Person operator = p.person(1);
    operator.client.operate(0, true);
    p.run(50);
    require(a.end() == LeaseEnd.LOST, "the invalidations show it at once");
    operator.tries();
    p.run(10);
    operator.mustHold("the lock is free");
    require(operator.lease.token() > a.lease.token(), "tokens are in order");
  }

  /** The lock is broken on the second node while the probe after the first waits for the third. */
  @Test
  void brokenLock_duringACheckThatFails_isCheckedAgain() {
    Play p = new Play(3, 2, options().leaseTime(Duration.ofSeconds(30)).autoExtend(true)).start();
    Play.Person a = p.asks(0, 100);
    p.link(a, 3).holdReplies();
    Play.Person operator = p.person(1);
    p.link(operator, 2).cut();
    operator.client.operate(0, true);
    p.run(30);
    p.link(operator, 2).mend();
    p.run(30);
    a.mustHold("n2 stores its lease, and n3 may store it");
    operator.client.operate(0, true);
    p.run(200);
    require(
        a.end() == LeaseEnd.LOST, "the invalidation of n2 is not forgotten when the probe fails");
  }

  /** A holder that measures its lease by the wall clock would hold it for another hour. */
  @Test
  void lease_whoseHoldersWallClockIsSetBack_endsInTime() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0).wants(100);
    p.run(100);
    a.client.stepWall(-3_600_000);
    p.run(900);
    Play.Person b = p.person(1).tries();
    p.run(10);
    b.mustHold("A's keys have expired");
    a.mustNotHold("and its lease has ended");
    require(a.end() == LeaseEnd.EXPIRED, "and the holder was told");
  }
}
