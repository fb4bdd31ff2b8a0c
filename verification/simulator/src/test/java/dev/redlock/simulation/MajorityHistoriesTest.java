package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An acquire asks a majority of the nodes first. See {@link Histories}. */
class MajorityHistoriesTest {
  private static final int NODES = 5;
  private static final int MAJORITY = 3;

  /** Each client has acquired once, so it knows how fast the nodes are. */
  private static Play start(int clients) {
    Play p = new Play(NODES, clients, options().majorityFirst(true)).start();
    for (int client = 0; client < clients; client++) {
      p.asks(client, 100).mustHold("the first acquire").releases();
      p.run(20);
    }
    return p;
  }

  private static List<Integer> owners(Play p, Play.Person holder) {
    List<Integer> owners = new ArrayList<>();
    for (int node = 1; node <= p.world.nodes.length; node++) {
      if (holder.lease.id().equals(p.owner(node))) {
        owners.add(node);
      }
    }
    return owners;
  }

  @Test
  void shortSection_isSeenByAMajorityOnly() {
    Play p = start(1);
    Play.Person a = p.asks(0, 100).mustHold("all is well");
    require(owners(p, a).size() == MAJORITY, "three of five were asked");
    a.releases();
    p.run(30);
    int ended = 0;
    for (int node = 1; node <= NODES; node++) {
      require(p.owner(node) == null, "it is released");
      ended += p.ended(node) >= a.lease.token() ? 1 : 0;
    }
    require(ended == MAJORITY, "the others have heard nothing of it");
  }

  @Test
  void leaseThatIsHeldOn_isWrittenToAllNodes() {
    Play p = start(1);
    Play.Person a = p.asks(0, 100).mustHold("all is well");
    p.run(25);
    require(owners(p, a).size() == NODES, "20 ms later all nodes store it");
    a.releases();
    p.run(30);
    require(owners(p, a).isEmpty(), "and none any more after the release");
  }

  @Test
  void clientsOfOneName_askTheSameNodes() {
    Play p = start(2);
    Play.Person a = p.asks(0, 100).mustHold("all is well");
    List<Integer> asked = owners(p, a);
    a.releases();
    p.run(200); // Until the clients have forgotten that others wanted the lock.
    Play.Person b = p.asks(1, 100).mustHold("all is well");
    require(
        owners(p, b).equals(asked) || owners(p, b).size() == NODES,
        "the same nodes, or all if the other client is remembered");
  }

  /** One of the nodes that the only client asks first takes requests and does not reply. */
  private static int hangsOneOfTheMajority(Play p) {
    Play.Person a = p.asks(0, 100).mustHold("all is well");
    int hung = owners(p, a).get(0);
    a.releases();
    p.run(30);
    p.link(a, hung).holdRequests();
    return hung;
  }

  @Test
  void nodeThatHangs_costsOnePatienceOnce() {
    Play p = start(1);
    int hung = hangsOneOfTheMajority(p);
    Play.Person b = p.person(0).wants(100);
    p.run(5);
    b.mustNotHold("one of three does not reply");
    p.run(10);
    b.mustHold("the others were asked after the patience");
    String id = b.lease.id();
    require(owners(p, b).size() == NODES - 1, "under the same lease id");
    b.releases();
    p.run(20);
    require(owners(p, b).isEmpty(), "one release undoes both");
    Play.Person c = p.asks(0, 100).mustHold("the node is passed over from now on");
    require(!owners(p, c).contains(hung) && !c.lease.id().equals(id), "by a round of its own");
    p.link(b, hung).letGo();
    p.run(30);
    require(!id.equals(p.owner(hung)), "the late request leaves nothing");
  }

  @Test
  void nodeThatHangsOn_isAskedOnceASecond() {
    Play p = start(1);
    hangsOneOfTheMajority(p);
    Play.Person b = p.person(0).wants(100);
    p.run(20);
    b.mustHold("the others were asked after the patience").releases();
    int askedAll = 0;
    for (int i = 0; i < 100; i++) { // About three seconds.
      p.run(25);
      Play.Person c = p.asks(0, 100).mustHold("the others suffice");
      askedAll += owners(p, c).size() > MAJORITY ? 1 : 0;
      c.releases();
    }
    require(askedAll > 0 && askedAll <= 3, "all were asked " + askedAll + " times");
  }

  @Test
  void release_whileANodeOfTheMajorityHangs_isConfirmed() {
    Play p = start(1);
    Play.Person a = p.asks(0, 100).mustHold("all is well");
    p.link(a, owners(p, a).get(0)).holdReplies();
    a.releases();
    p.run(2);
    require(
        a.released != null && a.released.failure() == null,
        "two confirm, and two never had the lease");
  }

  @Test
  void slowNodes_areAllAskedAtOnce() {
    Play p = new Play(NODES, 1, options().nodeTimeout(Duration.ofMillis(10)).majorityFirst(true));
    p.start();
    Play.Person a = p.asks(0, 100).mustHold("all is well");
    require(owners(p, a).size() == NODES, "the others could not be asked in time");
  }

  @Test
  void minimumHold_isStoredOnAllNodes() {
    Play p = new Play(NODES, 1, options().minimumHold(Duration.ofMillis(500)).majorityFirst(true));
    p.start();
    Play.Person a = p.asks(0, 100).mustHold("all is well");
    a.releases();
    p.run(20);
    require(owners(p, a).size() == NODES, "for as long as it lasts");
  }

  @Test
  void nodesThatWereKeptBack_andDoNotVoteAnyMore_endTheRound() {
    Play p = new Play(3, 1, options().majorityFirst(true)).start();
    Play.Person a = p.asks(0, 100).mustHold("all is well");
    List<Integer> asked = owners(p, a);
    a.releases();
    p.run(30);
    int hung = asked.get(0);
    p.link(a, hung).holdRequests();
    Play.Person b = p.person(0).tries();
    p.run(2);
    p.link(a, 1 + 2 + 3 - asked.get(0) - asked.get(1)).cut();
    p.link(a, hung).cut();
    p.run(5);
    require(b.refusal != null, "no quorum is left, and that is known at once");
  }

  @Test
  void nodeThatRefuses_isMadeUpForByTheOthersAtOnce() {
    Play p = start(1);
    Play.Person a = p.asks(0, 100).mustHold("all is well");
    int refusing = owners(p, a).get(MAJORITY - 1);
    a.releases();
    p.run(30);
    String stranger = "0123456789abcdef0123456789abcdef~x";
    Play.acquire(
        p.node(refusing).model, stranger, p.node(refusing).clock(), p.node(refusing).clock());
    require(stranger.equals(p.owner(refusing)), "another client has the key there");
    Play.Person b = p.asks(0, 100).mustHold("four nodes are free");
    require(owners(p, b).size() == NODES - 1, "all of them were asked");
    require(b.lease.token() > a.lease.token(), "with a token of its own");
  }
}
