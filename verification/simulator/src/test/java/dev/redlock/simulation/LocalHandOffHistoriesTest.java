package dev.redlock.simulation;

import static dev.redlock.simulation.Play.require;

import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.spi.LockRequest;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Hand-offs, and releases that the round of the next caller follows. See {@link Histories}. */
class LocalHandOffHistoriesTest {
  /** A lease of one second with automatic extension, as a local hand-off requires. */
  private static LockOptions.Builder options() {
    return Play.options().autoExtend(true);
  }

  private static Play.Person holder(Play p) {
    Play.Person holder = p.person(0).wants(100);
    p.run(5);
    return holder.mustHold("no other process wants it");
  }

  /** A waiter in the same process. */
  private static Play.Person waiter(Play p) {
    return p.person(0).wants(900);
  }

  @Test
  void handOff_ofFreshGrant_asksNoNode() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = holder(p);
    Play.Person next = p.person(0).wants(100);
    p.run(20);
    a.releases();
    a.mustNotHold("its lease has ended");
    require(a.end() == LeaseEnd.HANDED_OFF, "and the grant has a successor");
    next.mustHold("in the same instant");
    require(next.lease.token() == a.lease.token() + 1, "with the next token");
    require(p.owner(1).equals(next.lease.id()), "by the grant that the nodes store");
    require(
        next.lease.validity().deadlineNanos() == a.lease.validity().deadlineNanos(),
        "with the same deadline");
    p.run(3000);
    next.mustHold("it is extended").releases();
    p.run(20);
    Play.Person b = p.person(1).tries();
    p.run(5);
    b.mustHold("all is free");
    require(b.lease.token() > next.lease.token(), "tokens are in order");
  }

  /** The votes of a grant count for one node timeout, as in a round. */
  @Test
  void handOff_byVotesOlderThanTheNodeTimeout_asksTheNodes() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = holder(p);
    Play.Person next = waiter(p);
    p.run(100);
    a.releases();
    next.mustNotHold("its votes are too old");
    p.run(5);
    next.mustHold("by a round");
    require(!next.lease.id().equals(a.lease.id()), "which is a grant of its own");
  }

  /** A vote does not count after its connection dropped: the node may have lost its keys. */
  @Test
  void handOff_byVotesOfDroppedConnections_asksTheNodes() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = holder(p);
    Play.Person next = waiter(p);
    p.link(a, 1).cut();
    p.link(a, 2).cut();
    p.run(1);
    a.releases();
    next.mustNotHold("one vote is left");
    p.link(a, 1).mend();
    p.link(a, 2).mend();
    p.run(300);
    next.mustHold("by a round, when they are back");
    require(!next.lease.id().equals(a.lease.id()), "which is a grant of its own");
  }

  /** An administrator deletes the key; the invalidation comes before the release. */
  @Test
  void handOff_ofKeysThatWereDeleted_asksTheNodes() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = holder(p);
    Play.Person next = waiter(p);
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).holdRequests();
      p.node(n).model.delete("redlock:{a}");
    }
    p.run(2);
    a.releases();
    next.mustNotHold("the votes may be lost");
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).letGo();
    }
    p.run(50);
    next.mustHold("by a round");
    require(!next.lease.id().equals(a.lease.id()), "which is a grant of its own");
  }

  /** One of the two votes is lost; the other is not a quorum. */
  @Test
  void handOff_ofKeyThatIsAnothers_asksTheNodes() {
    Play p = new Play(3, 2, options().leaseTime(Duration.ofMillis(200))).start();
    Play.Person a = p.person(0);
    p.link(a, 3).blocked = true;
    p.link(a, 3).cut();
    p.run(1);
    a.wants(100);
    p.run(5);
    a.mustHold("n1 and n2 are a quorum");
    Play.Person next = waiter(p);
    Play.Person other = p.person(1);
    p.node(1).model.delete("redlock:{a}");
    p.node(1)
        .model
        .execute(
            new LockRequest.Acquire(
                other.client.lock(0).keys,
                "another",
                p.fence(1) + HeldLease.TOKENS_PER_GRANT,
                1000,
                null),
            99,
            99,
            p.node(1).clock());
    p.run(30);
    a.mustHold("n1 has refused and n2 has confirmed, which decides nothing").releases();
    next.mustNotHold("a vote of the grant is known to be lost");
  }

  /** n3 refuses the token. Its reply comes after the release was requested. */
  @Test
  void handOff_ofGrantThatANodeLacks_isFollowedByAnEarlyExtension() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    long clock = p.node(3).clock();
    Play.acquire(p.node(3).model, "another", clock + 1_000_000, clock);
    p.node(3).model.delete("redlock:{a}");
    p.link(a, 3).holdReplies();
    a.wants(100);
    p.run(5);
    a.mustHold("n1 and n2 are a quorum");
    Play.Person next = waiter(p);
    a.lease.askRelease();
    p.link(a, 3).letGo();
    p.run(1);
    a.releases();
    next.mustHold("at once");
    require(p.owner(3) == null, "n3 has granted nothing");
    p.run(25);
    require(next.lease.id().equals(p.owner(3)), "n3 stores it as well");
  }

  @Test
  void handOff_ofGrantWithoutTokensLeft_asksTheNodes() {
    Play p = new Play(3, 1, options().maxHandOffs(1000)).start();
    Play.Person holder = holder(p);
    long granted = holder.lease.token();
    int atOnce = 0;
    for (int i = 0; i < 3 * HeldLease.TOKENS_PER_GRANT; i++) {
      Play.Person next = p.person(0).wants(100);
      holder.releases();
      if (next.holds()) {
        atOnce++;
      } else {
        long last = holder.lease.token();
        require(
            last == granted + HeldLease.TOKENS_PER_GRANT - 1,
            "all tokens of the grant were used, " + last);
        p.run(5);
        granted = next.mustHold("by a round").lease.token();
        require(granted % HeldLease.TOKENS_PER_GRANT == 0, "a grant of its own, " + granted);
        require(granted > last, "tokens are in order");
      }
      require(next.lease.token() > holder.lease.token(), "tokens are in order");
      holder = next;
    }
    require(
        atOnce == 3 * HeldLease.TOKENS_PER_GRANT - 3,
        "three hand-offs need a round, not " + atOnce);
  }

  @Test
  void handOff_inFairMode_asksTheQueue() {
    Play p = new Play(3, 2, options().fair(true)).start();
    Play.Person a = holder(p);
    Play.Person other = p.person(1).wants(5000);
    p.run(20);
    Play.Person next = p.person(0).wants(5000);
    p.run(20);
    a.releases();
    next.mustNotHold("only the home node knows which process came first");
    p.run(200);
    other.mustHold("the other process came first");
  }

  @Test
  void release_afterLocalHandOff_freesNodesThatRepliedLate() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 3).holdRequests();
    a.wants(100);
    p.run(5);
    Play.Person next = p.person(0).wants(100);
    a.releases();
    next.mustHold("n1 and n2 are a quorum");
    p.link(a, 3).letGo();
    p.run(5);
    require(next.lease.id().equals(p.owner(3)), "n3 stores the grant late");
    next.mustHold("and the lease is unchanged").releases();
    p.run(20);
    require(p.owner(1) == null && p.owner(2) == null && p.owner(3) == null, "all is free");
  }

  /**
   * Three callers wait in this process, and one in another. Only the last release wakes the other
   * process.
   */
  @Test
  void handOffs_atOnceInARow_letAnotherProcessCome() {
    Play p = new Play(3, 2, options().maxHandOffs(2)).start();
    Play.Person holder = holder(p);
    Play.Person[] next = new Play.Person[3];
    for (int i = 0; i < 3; i++) {
      next[i] = p.person(0).wants(9000);
    }
    Play.Person other = p.person(1).wants(9000);
    p.run(20);
    holder.releases();
    next[0].mustHold("handed off");
    next[0].releases();
    next[1].mustHold("handed off again");
    next[1].releases();
    p.run(15);
    other.mustHold("it is the turn of the other process");
    next[2].mustNotHold("it is queued behind the other process");
    other.releases();
    p.run(50);
    next[2].mustHold("and gets the lock afterwards");
  }

  /**
   * Seed 144678, a limit of local hand-off: the holder does not learn that its lock was broken, and
   * hands off the lost lease within a node timeout. The resource rejects the token.
   */
  @Test
  void handOff_ofBrokenLock_hasALowerTokenThanTheGrantSince() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    p.deafen(a);
    a.wants(100);
    p.run(5);
    Play.Person operator = p.person(1);
    operator.client.operate(0, true);
    p.run(10);
    operator.tries();
    p.run(10);
    operator.mustHold("the lock is free");
    Play.Person next = waiter(p);
    a.releases();
    next.mustHold("no invalidation has come");
    require(next.lease.token() < operator.lease.token(), "the resource rejects its token");
    p.run(400);
    require(next.end() == LeaseEnd.LOST, "the extension detects the loss");
  }
}
