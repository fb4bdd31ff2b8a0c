package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;

import dev.redlock.AcquireVerdict;
import org.junit.jupiter.api.Test;

/** Nodes that restart or are flushed, with or without their keys. See {@link Histories}. */
class RestartHistoriesTest {
  /**
   * N = 3: A holds n2 and n3; B has a vote of n1 and waits; n1 restarts empty; A's extension
   * repairs n1 and would count it; n2 expires, B counts n1 and n2: two owners.
   */
  @Test
  void extension_ofRestartedNode_doesNotCountForThreeSeconds() {
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
    require(a.lease.id().equals(p.owner(1)), "the young node stores the lease");
    long before = a.lease.validity().deadlineNanos();
    p.link(a, 2).holdRequests();
    a.extends_();
    p.run(300);
    require(
        a.lease.validity().deadlineNanos() == before, "n1 is too young to be counted, n2 silent");
    require(a.extended != null && a.extended.failure() != null, "and the caller is told");
    p.run(4000);
  }

  @Test
  void lease_duringRollingRestart_isNotLost() {
    Play p = new Play(3, 2, options().autoExtend(true)).start();
    Play.Person a = p.asks(0, 100);
    for (int n = 1; n <= 3; n++) {
      p.node(n).crash(SimNode.Kept.NOTHING, 100);
      for (int i = 0; i < 20; i++) {
        Play.Person b = p.person(1).wants(350);
        p.run(400);
        b.mustNotHold("A holds the lock");
        a.mustHold("the lease survives a rolling restart of all nodes, n" + n);
      }
    }
    a.releases();
    p.run(50);
  }

  @Test
  void quarantinedNode_isNotAskedForVotes() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.node(1).crash(SimNode.Kept.NOTHING, 10);
    p.node(2).crash(SimNode.Kept.NOTHING, 10);
    p.run(800);
    a.tries();
    p.run(20);
    a.mustNotHold("two nodes are too young");
    require(a.refusal != null, "refused at once");
    require(a.refusal.verdict() == AcquireVerdict.UNAVAILABLE, "and the report says why");
    p.run(7000);
    Play.Person b = p.person(0).tries();
    p.run(10);
    b.mustHold("they are old enough now");
  }

  @Test
  void flushedNode_isNotAskedForVotes() {
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
    Play.Person b = p.person(1).tries();
    p.run(10);
    b.mustNotHold("n3 is free, but n1 may have lost its keys");
    p.link(a, 1).letGo();
    p.run(50);
    p.node(2).flushAnother();
    p.run(2);
    a.mustHold("n2 has kept its keys").releases();
    p.run(10);
    Play.Person c = p.person(1).tries();
    p.run(10);
    c.mustHold("and votes, with n3");
  }
}
