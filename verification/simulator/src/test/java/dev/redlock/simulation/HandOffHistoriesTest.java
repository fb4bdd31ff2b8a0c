package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;

import dev.redlock.LeaseEnd;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.testkit.model.NodeModel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Hand-offs with a round. See {@link Histories}. */
class HandOffHistoriesTest {
  /** N = 3. The predecessor's extend is still on its way to n1 when its hand-off fails. */
  @Test
  void handOff_thatFails_predecessorsLateExtendIsRefused() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.asks(0, 100);
    Play.Person next = p.person(0).wants(400);
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
    require(p.link(a, 1).straggle().code() == Code.LOST, "so the late extend is refused");
    require(p.owner(1) == null, "and nothing is left");
  }

  @Test
  void handOff_whileNodeIsSilent_releasesPredecessorThere() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.asks(0, 100);
    Play.Person next = p.person(0).wants(400);
    p.link(a, 1).cut();
    p.run(1);
    a.releases();
    p.run(5);
    require(a.end() == LeaseEnd.HANDED_OFF, "n2 and n3 are a quorum");
    next.mustHold("the successor holds the lock");
    p.link(a, 1).mend();
    p.run(50);
    require(next.lease.id().equals(p.owner(1)), "n1 stores the new lease as soon as it is back");
    Play.Person third = p.person(0).wants(400);
    p.link(a, 1).holdRequests();
    next.releases();
    p.run(5);
    require(next.end() == LeaseEnd.HANDED_OFF, "again, with n1 silent");
    third.releases();
    p.run(5);
    p.link(a, 1).letGo();
    p.run(200);
    require(p.owner(1) == null && p.owner(2) == null && p.owner(3) == null, "all is free");
  }

  @Test
  void handOff_toCancelledWaiter_freesTheLock() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.asks(0, 100);
    Play.Person next = p.person(0).wants(900);
    p.link(a, 2).holdRequests();
    p.link(a, 3).holdRequests();
    a.releases();
    p.run(5);
    require(next.cancels(), "it still waits");
    p.link(a, 2).letGo();
    p.link(a, 3).letGo();
    p.run(20);
    require(next.lease == null, "a cancelled caller gets no lease");
    require(a.end() == LeaseEnd.RELEASED, "the lease is released instead");
    require(p.owner(1) == null && p.owner(2) == null && p.owner(3) == null, "all is free");
    Play.Person b = p.person(1).tries();
    p.run(5);
    b.mustHold("for any process");
  }

  @Test
  void handOff_ofLease_endsItBeforeAnythingIsSent() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.asks(0, 100);
    Play.Person next = p.person(0).wants(900);
    a.releases();
    a.mustNotHold("a release first ends the lease locally");
    p.run(5);
    next.mustHold("then it is sent");
    require(next.lease.token() > a.lease.token(), "with a token of its own");
  }

  /**
   * Two callers without work: the one that releases is in the queue again before the other gets the
   * lease, so the lock is never freed between them.
   */
  @Test
  void handOff_underWay_letsTheReleasingCallerQueueAgain() {
    Play p = new Play(3, 1, options()).start();
    Play.Person holder = p.asks(0, 100);
    Play.Person next = p.person(0).wants(400);
    for (int i = 0; i < 4; i++) {
      holder.releases();
      require(holder.released != null, "the successor's round does the rest");
      holder.mustNotHold("the lease ends at once");
      next.mustNotHold("the round has yet to run");
      Play.Person back = p.asks(0, 400);
      next.mustHold("it is its turn");
      require(holder.end() == LeaseEnd.HANDED_OFF, "no node freed the lock in between");
      holder = next;
      next = back;
    }
  }

  /** Found by the exhaustive search: B's extend repairs a node before B's hand-off arrives. */
  @Test
  void handOff_toWhoseExtendWasFaster_endsThePredecessorAllTheSame() {
    NodeModel m = new NodeModel(60_000);
    long now = 1_760_000_000_000_000L;
    Play.acquire(m, "a", now, now);
    m.delete("redlock:{a}");
    LockRequest.Extend repair = new LockRequest.Extend(Play.A, "b", now + 1, 1000);
    require(m.execute(repair, 1, 1, now).code() == Code.REPAIRED, "free");
    LockRequest.Acquire handOff =
        new LockRequest.Acquire(Play.A, "b", now + 1, 1000, "a", now, null);
    require(m.execute(handOff, 1, 1, now).code() == Code.GRANTED, "a repeat");
    m.delete("redlock:{a}");
    LockRequest.Extend late = new LockRequest.Extend(Play.A, "a", now, 1000);
    require(m.execute(late, 1, 1, now).code() == Code.LOST, "A was handed off");
  }

  /**
   * Six callers wait in one process, and one in another. The other process is next after two
   * hand-offs.
   */
  @Test
  void handOffs_inARow_letAnotherProcessCome() {
    Play p = new Play(3, 2, options().maxHandOffs(2)).start();
    Play.Person holder = p.asks(0, 100);
    Play.Person other = p.person(1).wants(9000);
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
        holder = queue.remove(0).mustHold("the next caller of this process");
      }
    }
    other.mustHold("the other process waits no longer");
    require(handOffs == 3, "after one lease and two hand-offs, and not after " + handOffs);
  }
}
