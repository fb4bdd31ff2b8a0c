package dev.redlock.simulation;

import static dev.redlock.simulation.Play.require;

import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.internal.protocol.TokenWindow;
import dev.redlock.spi.LockRequest;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** Histories in which a grant is handed on without asking the nodes, or must not be. */
final class HandOffHistories {
  private HandOffHistories() {}

  /** All of them, by name. */
  static Map<String, Runnable> all() {
    Map<String, Runnable> all = new LinkedHashMap<>();
    all.put("handOff_ofFreshGrant_asksNobody", HandOffHistories::atOnce);
    all.put("handOff_byVotesOlderThanTheNodeTimeout_asksTheNodes", HandOffHistories::oldVotes);
    all.put("handOff_byVotesOfDroppedConnections_asksTheNodes", HandOffHistories::droppedVote);
    all.put("handOff_ofKeysThatWereDeleted_asksTheNodes", HandOffHistories::toldOfItsKey);
    all.put("handOff_ofKeyThatIsAnothers_asksTheNodes", HandOffHistories::anothers);
    all.put("handOff_ofGrantThatANodeMissed_healsIt", HandOffHistories::healsOn);
    all.put("handOff_ofGrantWithoutTokensLeft_asksTheNodes", HandOffHistories::tokensUsedUp);
    all.put("handOff_inFairMode_asksTheLine", HandOffHistories::fair);
    all.put("release_ofGrantHandedOn_freesNodesThatAnsweredLate", HandOffHistories::lateVote);
    all.put("handOffs_atOnceInARow_letAnotherProcessCome", HandOffHistories::inARow);
    all.put("handOff_ofBrokenLock_hasALowerTokenThanWhoeverCameThen", HandOffHistories::broken);
    return all;
  }

  /** A lease of one second, extended by itself: what it takes to be handed on at once. */
  private static LockOptions.Builder options() {
    return Play.options().autoExtend(true);
  }

  private static Play.Person holder(Play p) {
    Play.Person holder = p.person(0).wants(100);
    p.run(5);
    return holder.mustHold("nobody else wants it");
  }

  /** In the same process. */
  private static Play.Person waiter(Play p) {
    return p.person(0).wants(900);
  }

  private static void atOnce() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = holder(p);
    Play.Person next = p.person(0);
    next.wants(100);
    p.run(20);
    a.releases();
    a.mustNotHold("it is over");
    require(a.end() == LeaseEnd.HANDED_OFF, "and has gone to the next");
    next.mustHold("in the same instant");
    require(next.lease.token() == a.lease.token() + 1, "with the next token");
    require(p.owner(1).equals(next.lease.id()), "by the grant that the nodes store");
    require(
        next.lease.validity().deadlineNanos() == a.lease.validity().deadlineNanos(),
        "for as long as that may be trusted");
    p.run(3000);
    next.mustHold("it is extended");
    next.releases();
    p.run(20);
    Play.Person b = p.person(1);
    b.tries();
    p.run(5);
    b.mustHold("all is free");
    require(b.lease.token() > next.lease.token(), "in order");
  }

  /** As any vote, that of the round before counts for a node timeout and no longer. */
  private static void oldVotes() {
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

  /** Nor does that of a node whose connection has dropped since: it may have forgotten. */
  private static void droppedVote() {
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

  /** Of the two votes one turns out to be lost; the other is not enough. */
  private static void anothers() {
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
                p.fence(1) + TokenWindow.PER_GRANT,
                1000,
                null,
                0,
                null),
            99,
            99,
            p.node(1).clock());
    p.run(30);
    a.mustHold("n2 has said that it lives on, which is no quorum of either kind");
    a.releases();
    next.mustNotHold("the votes of before are known to be wrong");
  }

  /** n3 errs; its answer comes when the release has been asked for, and before it is handled. */
  private static void healsOn() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 3).holdRequests();
    a.wants(100);
    p.run(5);
    a.mustHold("n1 and n2 are a quorum");
    Play.Person next = waiter(p);
    a.lease.askRelease();
    p.link(a, 3).cut();
    p.link(a, 3).mend();
    p.run(20);
    a.releases();
    next.mustHold("at once");
    p.run(5);
    require(next.lease.id().equals(p.owner(3)), "n3 stores it as well");
  }

  /** Somebody deletes the key; the push comes before the release. */
  private static void toldOfItsKey() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = holder(p);
    Play.Person next = waiter(p);
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).holdRequests();
      p.node(n).model.delete("redlock:{a}");
    }
    p.run(2);
    a.releases();
    next.mustNotHold("the nodes have to be asked");
    for (int n = 1; n <= 3; n++) {
      p.link(a, n).letGo();
    }
    p.run(50);
    next.mustHold("by a round");
    require(!next.lease.id().equals(a.lease.id()), "which is a grant of its own");
  }

  private static void tokensUsedUp() {
    Play p = new Play(3, 1, options().maxHandOffs(1000)).start();
    Play.Person holder = holder(p);
    long granted = holder.lease.token();
    int atOnce = 0;
    for (int i = 0; i < 3 * TokenWindow.PER_GRANT; i++) {
      Play.Person next = p.person(0);
      next.wants(100);
      holder.releases();
      if (next.holds()) {
        atOnce++;
      } else {
        long last = holder.lease.token();
        require(last == granted + TokenWindow.PER_GRANT - 1, "all were used, " + last);
        p.run(5);
        granted = next.mustHold("by a round").lease.token();
        require(granted % TokenWindow.PER_GRANT == 0, "a grant of its own, " + granted);
        require(granted > last, "in order");
      }
      require(next.lease.token() > holder.lease.token(), "in order");
      holder = next;
    }
    require(atOnce == 3 * TokenWindow.PER_GRANT - 3, "three rounds for the rest, not " + atOnce);
  }

  private static void fair() {
    Play p = new Play(3, 2, options().fair(true).lineTimeout(Duration.ofSeconds(5))).start();
    Play.Person a = holder(p);
    Play.Person other = p.person(1);
    other.wants(5000);
    p.run(20);
    Play.Person next = p.person(0);
    next.wants(5000);
    p.run(20);
    a.releases();
    next.mustNotHold("nobody here knows who came first");
    p.run(200);
    other.mustHold("it did");
  }

  /**
   * Seed 144678: what handing on without a question gives up. The holder is not told that its lock
   * was broken, and within a node timeout hands on what it no longer has. The resource knows.
   */
  private static void broken() {
    Play p = new Play(3, 2, options()).start();
    Play.Person a = p.person(0);
    p.deafen(a);
    a.wants(100);
    p.run(5);
    Play.Person operator = p.person(1);
    operator.client.lock(0).act((m, now, wall) -> m.breakLock(100 * Scenario.MS, now));
    p.run(10);
    operator.tries();
    p.run(10);
    operator.mustHold("it is free");
    Play.Person next = waiter(p);
    a.releases();
    next.mustHold("nobody has told");
    require(next.lease.token() < operator.lease.token(), "the resource refuses it");
    p.run(400);
    require(next.end() == LeaseEnd.LOST, "the extension finds out");
  }

  /** Three wait here when another process comes: it hears no push but of the last one's release. */
  private static void inARow() {
    Play p = new Play(3, 2, options().maxHandOffs(2)).start();
    Play.Person holder = holder(p);
    Play.Person[] next = new Play.Person[3];
    for (int i = 0; i < 3; i++) {
      next[i] = p.person(0).wants(9000);
    }
    Play.Person other = p.person(1).wants(9000);
    p.run(20);
    holder.releases();
    next[0].mustHold("handed on");
    next[0].releases();
    next[1].mustHold("handed on again");
    next[1].releases();
    p.run(15);
    other.mustHold("the other's turn");
    next[2].mustNotHold("it stayed back");
    other.releases();
    p.run(50);
    next[2].mustHold("and comes again");
  }

  private static void lateVote() {
    Play p = new Play(3, 1, options()).start();
    Play.Person a = p.person(0);
    p.link(a, 3).holdRequests();
    a.wants(100);
    p.run(5);
    Play.Person next = p.person(0);
    next.wants(100);
    a.releases();
    next.mustHold("n1 and n2 are a quorum");
    p.link(a, 3).letGo();
    p.run(5);
    require(next.lease.id().equals(p.owner(3)), "n3 stores it late");
    next.mustHold("and changes nothing");
    next.releases();
    p.run(20);
    require(p.owner(1) == null && p.owner(2) == null && p.owner(3) == null, "all is free");
  }
}
