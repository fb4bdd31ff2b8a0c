package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;

import dev.redlock.AcquireVerdict;
import dev.redlock.LeaseEnd;
import dev.redlock.harness.model.NodeModel;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply.Code;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Releases and roll-backs, late, repeated or overtaken. See {@link Histories}. */
class ReleaseHistoriesTest {
  /** N = 3. A holds n2 and n3; B's later token is rolled back everywhere; A repairs n1. */
  @Test
  void rollBack_ofLaterToken_leavesEarlierLeaseRepairable() {
    Play p = new Play(3, 2, options());
    Play.Person a = p.person(0);
    Play.Person b = p.person(1);
    p.link(a, 1).blocked = true;
    p.start();
    a.wants(100);
    p.run(5);
    b.tries();
    p.run(10);
    b.mustNotHold("n2 and n3 store A's lease");
    require(p.fence(1) > a.lease.token(), "the fence of n1 is above A's token");
    require(p.ended(1) < a.lease.token(), "but no lease has ended there");
    p.link(a, 1).mend();
    p.run(50);
    require(a.lease.id().equals(p.owner(1)), "n1 is repaired");
    a.extends_();
    p.run(10);
    a.mustHold("A holds its lease");
    require(a.extended != null && a.extended.failure() == null, "with three of three");
  }

  @Test
  void acquire_thatArrivesAfterItsRollBack_isRefused() {
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
    require(p.link(a, 1).straggle().code() == Code.STALE, "too late at n1");
    require(p.link(a, 2).straggle().code() == Code.STALE, "too late at n2");
    require(p.owner(1) == null && p.owner(2) == null, "no ghost");
  }

  @Test
  void acquire_fromOldConnection_isRefusedAfterRelease() {
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
      Code code = p.link(a, 1).straggle().code();
      require(code != Code.GRANTED && code != Code.REPAIRED, "n1 grants an ended lease");
    }
    require(p.owner(1) == null, "nothing is left");
  }

  /** A minimum hold keeps the key for a while. A late extension must not prolong this time. */
  @Test
  void extend_afterReleaseWithMinimumHold_isRefused() {
    NodeModel m = new NodeModel(60_000);
    long now = 1_760_000_000_000_000L;
    Play.acquire(m, "a", now, now);
    m.execute(new LockRequest.Release(Play.A, "a", now, true, 300, null), 1, 1, now);
    long until = m.expiresMillis("redlock:{a}");
    LockRequest.Extend late = new LockRequest.Extend(Play.A, "a", now, 30_000);
    require(m.execute(late, 1, 1, now).code() == Code.LOST, "the lease has ended");
    require(m.expiresMillis("redlock:{a}") == until, "and the expiry of its key is unchanged");
  }

  @Test
  void round_withoutVerdictAtNodeTimeout_isUndoneEverywhere() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 2).holdReplies();
    p.link(a, 3).holdReplies();
    a.wants(110);
    p.run(120);
    require(a.refusal != null, "its wait time is over");
    require(a.refusal.verdict() == AcquireVerdict.UNAVAILABLE, "too few nodes replied");
    p.run(10);
    for (int n = 1; n <= 3; n++) {
      require(p.owner(n) == null, "undone on n" + n + ", silent or not");
    }
    p.link(a, 2).letGo();
    p.link(a, 3).letGo();
    p.run(200);
  }

  @Test
  void release_ofUnreachableNode_isSentWhenItIsBack() {
    Play p = new Play(3, 1, options().leaseTime(Duration.ofSeconds(5))).start();
    Play.Person a = p.asks(0, 100);
    p.link(a, 1).cut();
    p.run(1);
    a.releases();
    p.run(10);
    require(a.released != null && a.released.failure() == null, "a quorum has confirmed");
    require(a.lease.id().equals(p.owner(1)), "n1 has not received it");
    p.link(a, 1).mend();
    p.run(20);
    require(p.owner(1) == null, "n1 has received it now");
  }

  @Test
  void cancel_inTheMiddle_rollsBackEverywhere() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 2).holdReplies();
    p.link(a, 3).holdReplies();
    a.wants(5000);
    p.run(5);
    require(a.cancels(), "it waits");
    p.run(10);
    for (int n = 1; n <= 3; n++) {
      require(p.owner(n) == null, "a cancellation does not cancel the roll-back on n" + n);
    }
    p.link(a, 2).letGo();
    p.link(a, 3).letGo();
    p.run(20);
    require(a.lease == null, "a late reply does not undo the cancellation");
  }

  /** n1 replies to the acquire late, on a connection on which the roll-back failed. */
  @Test
  void lateGrant_afterRollBack_isUndone() {
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

  /** The same, but the client dropped the pending release: there were too many. */
  @Test
  void lateGrant_whoseRollBackWasForgotten_isUndone() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 1).holdReplies();
    p.link(a, 2).holdReplies();
    a.wants(5000);
    p.run(20);
    p.node(1).refuse(true);
    a.client.tooManyPending = true;
    a.cancels();
    p.run(5);
    require(a.client.lock(0).machine.pendingReleases() == 0, "the roll-back was dropped");
    a.client.tooManyPending = false;
    p.node(1).refuse(false);
    require(p.owner(1) != null, "n1 had granted, and refused the roll-back");
    p.link(a, 1).letGo();
    p.link(a, 2).letGo();
    p.run(20);
    require(p.owner(1) == null, "the late grant is undone");
  }

  @Test
  void minimumHold_keepsOthersOut() {
    Play p = new Play(3, 2, options().minimumHold(Duration.ofMillis(300))).start();
    Play.Person a = p.asks(0, 100);
    a.releases();
    a.mustNotHold("the lease ends at once");
    p.run(250);
    Play.Person b = p.person(1).tries();
    p.run(5);
    b.mustNotHold("but the key stays");
    p.run(60);
    Play.Person c = p.person(1).tries();
    p.run(5);
    c.mustHold("the minimum hold is over");
  }

  @Test
  void close_leavesNothing() {
    Play p = new Play(3, 2, options().autoExtend(true)).start();
    Play.Person a = p.asks(0, 100);
    Play.Person next = p.person(0).wants(5000);
    Play.Person b = p.person(1).wants(5000);
    p.run(50);
    p.world.clients[0].close();
    p.world.clients[1].close();
    require(a.end() == LeaseEnd.CLOSED, "released by the close");
    require(next.refusal != null && b.refusal != null, "waiters are refused");
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
