package dev.redlock.internal.sets;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.model.RecordScript;
import dev.redlock.internal.sets.Membership.Decision;
import dev.redlock.spi.NodeRecord;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which set a client works with, and what it writes. */
final class MembershipTest {
  /** The set after the first one: c is replaced by d in two steps. */
  private static final NodeRecord THIRD =
      new NodeRecord(
          "d1", "", 3, List.of("a", "b", "d"), List.of("a", "b"), 3, 9, 9, 5_000, 5_000, 7);

  private static final String REMEDY =
      "; two configurations were used for one deployment. Stop the clients with the wrong one,"
          + " and restart empty the masters that have its record";

  @Test
  void firstClient_withAllNodesUp_writesTheRecordAtOnce() {
    SetFixture set = new SetFixture("a", "b", "c");
    Decision first = set.review();
    assertThat(first.tells()).hasSize(1); // From there it is copied.
    assertThat(first.objections()).doesNotContainNull();
    Decision settled = set.settle();
    assertThat(settled.members())
        .isEqualTo(new Members("d1", 1, List.of("a", "b", "c"), 7, SetFixture.MAX_LEASE));
    assertThat(settled.objections()).containsOnlyNulls();
    assertThat(set.record("b").name()).isEqualTo("b");
  }

  /** FleetIT: each process reaches the servers through proxies of its own. */
  @Test
  void twoFirstClients_thatSpellTheNodesDifferently_begin_withOneRecord() {
    SetFixture one = new SetFixture("a", "b", "c");
    SetFixture two = one.another("x", "y", "z");
    two.hosts.putAll(Map.of("x", "b", "y", "c", "z", "a"));
    Decision first = one.review();
    Decision second = two.review();
    one.make(first.tells());
    two.records.putAll(one.records); // The same servers.
    two.make(second.tells());
    assertThat(two.records).isEqualTo(one.records).hasSize(1);
    one.settle();
    two.records.putAll(one.records);
    assertThat(two.settle().members().names()).containsExactly("a", "b", "c");
    assertThat(two.settle().objections()).containsOnlyNulls();
  }

  @Test
  void firstRecord_isWrittenToAMaster_whereAReplicaIsConfigured() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.replicas.add("a"); // The first in the order of all clients.
    Decision settled = set.settle();
    assertThat(set.records).containsOnlyKeys("b", "c");
    assertThat(settled.objections().subList(1, 3)).containsOnlyNulls();
    assertThat(settled.members().names()).containsExactly("a", "b", "c");
  }

  /** An attack with two spellings left a member with a name that was not in the set. */
  @Test
  void proposalOfAnotherList_givesAMemberNoName() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.settle();
    NodeRecord other = NodeRecord.proposal("d9", List.of("x", "y", "z"), SetFixture.MAX_LEASE);
    set.records.put("c", other.of("z"));
    assertThat(set.settle().objections()).containsOnlyNulls();
    assertThat(set.record("c").name()).isEqualTo("c");
  }

  @Test
  void list_withOneServerUnderTwoNames_beginsNoDeployment() {
    SetFixture set = new SetFixture("a", "b", "x");
    set.hosts.put("x", "a");
    set.refused.add("x");
    set.settle();
    set.now += 2 * Membership.FIRST_RECORD_NANOS;
    assertThat(set.settle().objections())
        .containsOnly("the first record cannot hold one server twice: [a, b, x]");
    assertThat(set.records).isEmpty();
    // A record names x, and a is not reached any more: seed 40328 of SHELL_SETS.
    set.cut.add("a");
    set.records.put("a", NodeRecord.proposal("d9", List.of("a", "b"), 5_000).of("a"));
    set.settle();
    assertThat(set.membership.aliases()).containsExactly("a", "b", "a");
    assertThat(set.records).containsOnlyKeys("a");
  }

  @Test
  void firstRecord_thatTheChosenNodeDoesNotStore_isWrittenToTheOthersLater() {
    SetFixture set = new SetFixture("a", "b", "c");
    Decision first = set.review();
    assertThat(first.tells()).extracting(Tell::node).containsExactly(0);
    set.now += 2 * Membership.FIRST_RECORD_NANOS;
    assertThat(set.review().tells()).extracting(Tell::node).containsExactly(0, 1, 2);
  }

  @Test
  void nodeThatIsReachedAfterItsNameWasConnected_isADouble() {
    SetFixture first = new SetFixture("a", "b", "c");
    first.settle();
    SetFixture late = first.another("x", "b", "c");
    late.hosts.put("x", "a");
    late.cut.add("x");
    late.now += Membership.FIRST_RECORD_NANOS;
    assertThat(late.settle().members().mask()).isEqualTo(0b1110);
    late.cut.remove("x");
    assertThat(late.settle().members().mask()).isEqualTo(0b1110);
    assertThat(late.membership.isDouble(0)).isTrue();
    late.membership.forget(0);
    assertThat(late.membership.seeds()).containsExactly("b", "c");
  }

  /** FleetIT found that it stayed, as a node that does not vote until an operator acts. */
  @Test
  void nodeForAMember_thatIsRefusedBesideAConfiguredNodeThatVotes_isADouble() {
    SetFixture first = new SetFixture("a", "b", "c");
    first.settle();
    SetFixture late = first.another("x", "b", "c");
    late.hosts.put("x", "a");
    late.cut.add("x");
    late.now += Membership.FIRST_RECORD_NANOS;
    assertThat(late.settle().members().mask()).isEqualTo(0b1110);
    late.cut.remove("x");
    late.refused.add("a");
    assertThat(late.settle().members().mask()).isEqualTo(0b0111);
    assertThat(late.membership.isWanted(3)).isFalse();
    assertThat(late.membership.isDouble(3)).isTrue();
    assertThat(late.names).containsExactly("x", "b", "c", "a");
  }

  @Test
  void firstClient_withOneNodeDown_writesTheRecordAfterThreeSeconds() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.down.add("c");
    set.now += Membership.FIRST_RECORD_NANOS - 1_000_000;
    assertThat(set.settle().tells()).isEmpty();
    assertThat(set.records).isEmpty();
    set.now += 1_000_000;
    Decision settled = set.settle();
    assertThat(set.records).containsOnlyKeys("a", "b");
    assertThat(settled.members().quorum()).isEqualTo(2);
    assertThat(settled.objections()).containsOnlyNulls();
  }

  @Test
  void firstClient_withoutAMajority_writesNothing() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.down.addAll(List.of("b", "c"));
    set.now += 60 * SetFixture.SECOND;
    assertThat(set.settle().objections().get(0))
        .isEqualTo("waits for the other nodes: no majority has a record of the set");
    assertThat(set.records).isEmpty();
  }

  @Test
  void secondClient_withOneNodeInCommon_countsNoVote_andSaysWhatEachNodeShows() {
    SetFixture first = new SetFixture("a", "b", "c");
    first.settle();
    SetFixture other = first.another("a", "d", "e");
    assertThat(other.settle().objections()).containsOnly(Membership.WAITS);
    other.now += Membership.FIRST_RECORD_NANOS;
    other.down.add("e");
    Decision settled = other.settle();
    assertThat(other.membership.current().exists()).isFalse();
    assertThat(settled.objections())
        .containsOnly(
            "no deployment is shown by a majority of the configured nodes: a shows deployment d1:"
                + " epoch 1: a, b, c; d shows no record; e does not answer. Start what is"
                + " down, or correct the list");
    assertThat(settled.objections()).allMatch(Objections::isPassing);
    other.causes.put("e", "NOT_AUTHENTICATED: WRONGPASS invalid user or password.");
    assertThat(other.settle().objections())
        .allMatch(Objections::isPassing)
        .allMatch(
            why ->
                why.endsWith(
                    "e does not answer: NOT_AUTHENTICATED: WRONGPASS invalid user or password."
                        + " Correct the login or certificate, or correct the list"));
    assertThat(settled.tells()).isEmpty();
    assertThat(other.records.keySet()).containsExactlyInAnyOrder("a", "b", "c");
    other.down.remove("e");
    assertThat(other.settle().objections()).noneMatch(Objections::isPassing);
  }

  @Test
  void secondClient_withTwoNodesInCommon_worksWithTheRecord() {
    SetFixture first = new SetFixture("a", "b", "c");
    first.settle();
    SetFixture other = first.another("a", "b", "d");
    other.now += Membership.FIRST_RECORD_NANOS;
    other.settle();
    assertThat(other.membership.current().members()).containsExactly("a", "b", "c");
    assertThat(other.names).containsExactly("a", "b", "d", "c");
  }

  @Test
  void oldList_afterAMemberWasReplaced_worksAtOnce_alsoWithoutTheReplacedOne() {
    SetFixture old = new SetFixture("a", "b", "c");
    List.of("a", "b", "d").forEach(node -> old.records.put(node, THIRD.of(node)));
    old.down.add("c");
    Decision decision = old.review();
    assertThat(decision.members())
        .isEqualTo(new Members("d1", 3, List.of("a", "b", "d"), 0b11, SetFixture.MAX_LEASE));
    assertThat(decision.members().quorum()).isEqualTo(2);
    assertThat(decision.objections().subList(0, 2)).containsOnlyNulls();
    assertThat(decision.missing()).as("c may be another name of d").isEmpty();
    old.now += Membership.FIRST_RECORD_NANOS;
    assertThat(old.settle().members().mask()).isEqualTo(0b1011);
  }

  @Test
  void shortList_thatIsNoQuorumOfTheSet_connectsToTheOthersAtOnce() {
    SetFixture first = new SetFixture("a", "b", "c", "d", "e");
    first.settle();
    SetFixture shorter = first.another("a", "x");
    shorter.hosts.put("x", "b");
    shorter.cut.add("x");
    SetFixture single = first.another("a");
    assertThat(shorter.settle().missing()).isEmpty();
    assertThat(single.settle().members().mask()).isEqualTo(0b11111);
  }

  @Test
  void list_thatMixesTwoDeployments_worksWithThatOfTheMajority_whoseNodesConnectFirst() {
    NodeRecord newer =
        new NodeRecord("d9", "", 7, List.of("x", "y", "z"), List.of(), 7, 0, 0, 5_000, 5_000, 1);
    for (boolean strangerFirst : List.of(true, false)) {
      SetFixture first = new SetFixture("a", "b", "c");
      first.settle();
      SetFixture mixed = first.another("a", "b", "x");
      mixed.records.put("x", newer.of("x"));
      mixed.down.addAll(strangerFirst ? List.of("a", "b") : List.of("x"));
      assertThat(mixed.settle().members().epoch()).isEqualTo(strangerFirst ? 0 : 1);
      mixed.down.clear();
      Decision settled = mixed.settle();
      assertThat(settled.members().id()).isEqualTo("d1");
      assertThat(settled.objections().subList(0, 2)).containsOnlyNulls();
      assertThat(settled.objections().get(2))
          .startsWith(
              "belongs to another deployment: it shows deployment d9: epoch 7: x, y, z, and this"
                  + " client works with deployment d1: epoch 1: a, b, c");
      assertThat(mixed.record("x")).isEqualTo(newer.of("x"));
      assertThat(mixed.record("a").id()).isEqualTo("d1");
    }
  }

  /**
   * CI found that the node of the stranger was connected twice, and the second time for good. It
   * was also, if it was not reached any more when the client chose (seed 91289 of SHELL_SETS).
   */
  @Test
  void seedThatLeadsToAnotherDeployment_andConnectsFirst_keepsItsNameInTheSet() {
    NodeRecord stranger =
        new NodeRecord("d9", "q", 7, List.of("q", "r"), List.of(), 7, 0, 0, 5_000, 5_000, 1);
    for (List<String> away : List.of(List.<String>of(), List.of("c"))) {
      SetFixture first = new SetFixture("a", "b", "c");
      first.settle();
      SetFixture late = first.another("a", "b", "c");
      late.records.put("c", stranger);
      late.down.addAll(List.of("a", "b"));
      late.settle();
      late.down.clear();
      late.down.addAll(away);
      late.settle();
      assertThat(late.membership.aliases()).containsExactly("a", "b", "c");
    }
  }

  /** It was told this deployment's record as d: that member was then two servers. */
  @Test
  void seedThatLeadsToAnotherDeployment_andForgetsItsRecord_isNotToldAsAMember() {
    SetFixture set = new SetFixture("a", "b", "x");
    set.records.put("x", NodeRecord.first("d9", List.of("d", "q"), 5_000).of("d"));
    set.review();
    set.records.remove("x");
    List.of("a", "b").forEach(node -> set.records.put(node, THIRD.of(node)));
    set.settle();
    assertThat(set.records).doesNotContainKey("x");
  }

  /** An operator who added q later got no connection to it: the node of x counted as q. */
  @Test
  void seedThatHadTheNameOfAnotherDeployment_andLeadsToAMemberThen_losesThatName() {
    SetFixture set = new SetFixture("a", "b", "x");
    set.records.put("x", NodeRecord.first("d9", List.of("q", "r"), 5_000).of("q"));
    set.down.addAll(List.of("a", "b"));
    set.review();
    assertThat(set.membership.aliases()).containsExactly("a", "b", "q");
    List.of("a", "b", "c").forEach(node -> set.records.put(node, THIRD.of(node)));
    set.down.remove("a");
    set.hosts.put("x", "a");
    set.refused.add("x");
    set.review();
    set.down.clear();
    set.settle();
    assertThat(set.membership.aliases()).doesNotContain("q");
  }

  /** Two of three masters of an old list were empty, and the third was down for a moment. */
  @Test
  void nodeThatHasShownARecord_andIsNotReachedAnyMore_keepsTheClientFromFounding() {
    SetFixture first = new SetFixture("a", "b", "c");
    first.settle();
    SetFixture late = first.another("a", "x", "y");
    late.down.addAll(List.of("x", "y"));
    late.settle();
    late.now += Membership.FIRST_RECORD_NANOS;
    late.down.clear();
    late.down.add("a");
    assertThat(late.settle().objections())
        .containsOnly(
            "a has shown a record and does not answer. Start what is down, or restart this program"
                + " to found a deployment without it");
    assertThat(late.records).doesNotContainKeys("x", "y");
  }

  @Test
  void nodeThatHasShownTheRecordOfAProposal_mayBeAwayWhileThatIsCompleted() {
    NodeRecord proposal = NodeRecord.proposal("d5", List.of("a", "b", "c"), SetFixture.MAX_LEASE);
    SetFixture set = new SetFixture("a", "b", "c");
    set.down.addAll(List.of("b", "c"));
    set.records.put("a", proposal.confirmed().of("a"));
    set.settle();
    set.now += Membership.FIRST_RECORD_NANOS;
    set.down.clear();
    set.down.add("a");
    set.records.put("b", proposal.of("b"));
    set.records.put("c", proposal.of("c"));
    assertThat(set.settle().members().id()).isEqualTo("d5");
  }

  @Test
  void serverUnderTwoNames_countsOnceForTheFirstRecord() {
    List<String> members = List.of("a", "b", "c");
    SetFixture set = new SetFixture("x", "y", "z");
    set.hosts.putAll(Map.of("x", "a", "y", "b", "z", "c"));
    set.down.addAll(List.of("b", "c"));
    set.records.put("a", NodeRecord.proposal("d2", members, SetFixture.MAX_LEASE).of("a"));
    set.settle();
    set.now += Membership.FIRST_RECORD_NANOS;
    set.settle();
    assertThat(set.names).containsExactly("x", "y", "z", "b", "c");
    set.down.remove("c");
    set.refused.add("c");
    set.records.put("c", NodeRecord.proposal("d1", members, SetFixture.MAX_LEASE).of("c"));
    set.settle();
    set.refused.clear(); // As for a user who may not call INFO.
    set.settle();
    assertThat(set.record("c").isProposal()).isTrue();
  }

  /** A master of a cluster, beside that cluster and another one. */
  @Test
  void nodeThatKeepsNoRecord_andIsRefused_doesNotHoldUpTheFirstRecord() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.silent.addAll(List.of("b", "c"));
    set.refused.addAll(List.of("b", "c"));
    assertThat(set.settle().members().id()).isEqualTo("d1");
  }

  /** A client with a part of the list does not see that the other proposal has a majority. */
  @Test
  void proposalOfAMajority_yieldsToNoneBecauseAShortListIsSplit() {
    List<String> members = List.of("a", "b", "c");
    SetFixture set = new SetFixture("a", "b");
    set.records.put("b", NodeRecord.proposal("d1", members, SetFixture.MAX_LEASE).of("b"));
    NodeRecord other = NodeRecord.proposal("d2", members, SetFixture.MAX_LEASE);
    List.of("a", "c").forEach(node -> set.records.put(node, other.of(node)));
    set.make(set.review().tells());
    assertThat(set.record("a").id()).isEqualTo("d2");
    set.now += Membership.FIRST_RECORD_NANOS;
    assertThat(set.settle().members().id()).isEqualTo("d2");
  }

  /** A seed of the simulator found it. */
  @Test
  void proposalThatANodeShowedLongAgo_isNotCountedForTheFirstRecord() {
    NodeRecord chosen = NodeRecord.proposal("d5", List.of("a", "b", "c"), SetFixture.MAX_LEASE);
    NodeRecord other = NodeRecord.proposal("d1", List.of("a", "b", "c"), SetFixture.MAX_LEASE);
    SetFixture set = new SetFixture("a", "b", "c");
    set.down.add("a");
    set.now += Membership.FIRST_RECORD_NANOS;
    set.records.put("b", other.of("b"));
    set.records.put("c", other.of("c"));
    Decision decision = set.review();
    set.records.put("c", chosen.confirmed().of("c")); // The client has not read it again.
    set.make(decision.tells());
    assertThat(set.settle().members().epoch()).isZero();
    assertThat(set.record("b").isProposal()).isTrue();
  }

  /** Its name leads elsewhere: short names in two namespaces, an address that was given away. */
  @Test
  void member_whoseNameLeadsToAnotherDeployment_losesItsVote_andIsConnectedOnce() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.settle();
    NodeRecord stranger =
        new NodeRecord("d9", "q", 7, List.of("q", "r"), List.of(), 7, 0, 0, 5_000, 5_000, 1);
    set.records.put("c", stranger);
    Decision decision = set.settle();
    assertThat(decision.members().mask()).isEqualTo(0b111);
    assertThat(decision.objections().subList(0, 2)).containsOnlyNulls();
    assertThat(decision.objections().get(2)).startsWith("belongs to another deployment");
    assertThat(set.record("c")).isEqualTo(stranger);
    assertThat(set.names).containsExactly("a", "b", "c");
  }

  @Test
  void voteOfANodeWithTheSameSetOfAnotherDeployment_doesNotCount() {
    Members asked = new Members("d1", 1, List.of("a", "b"), 3, 5_000);
    NodeRecord own = NodeRecord.first("d1", List.of("a", "b"), 5_000);
    assertThat(asked.admittedBy(own)).isTrue();
    NodeRecord foreign = NodeRecord.first("d2", own.members(), 5_000);
    assertThat(asked.admittedBy(foreign)).isFalse();
  }

  @Test
  void observer_writesNothing_whateverItsList() {
    SetFixture empty = SetFixture.observer("a", "b", "c");
    empty.now += 10 * SetFixture.SECOND;
    assertThat(empty.settle().tells()).isEmpty();
    SetFixture first = new SetFixture("a", "b", "c");
    first.settle();
    SetFixture look = SetFixture.observer("a");
    look.records.putAll(first.records);
    look.records.remove("b");
    assertThat(look.settle().tells()).isEmpty();
    assertThat(look.membership.current().members()).containsExactly("a", "b", "c");
    assertThat(look.record("b").exists()).isFalse();
    look.membership.operates();
    look.settle();
    assertThat(look.record("b").exists()).isTrue();
  }

  @Test
  void nodeWithAnUnreadableRecord_isNeitherEmptyNorAVote() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.records.put("c", NodeRecord.UNREADABLE);
    set.now += 10 * SetFixture.SECOND;
    assertThat(set.settle().objections()).doesNotContainNull();
    assertThat(set.records.keySet()).as("its deployment may be theirs").containsExactly("c");
    SetFixture first = new SetFixture("a", "b", "c");
    first.settle();
    SetFixture second = first.another("a", "b", "c");
    second.records.put("c", NodeRecord.UNREADABLE);
    Decision settled = second.settle();
    assertThat(settled.members().admittedBy(second.record("a"))).isTrue();
    assertThat(settled.members().admittedBy(second.record("c"))).isFalse();
    assertThat(second.record("c")).isEqualTo(NodeRecord.UNREADABLE);
  }

  @Test
  void firstRecord_withALoopbackNameBesideOthers_isNotWritten() {
    SetFixture set = new SetFixture("localhost:6379", "h2:6379", "h3:6379");
    set.now += 10 * SetFixture.SECOND;
    assertThat(set.settle().objections().get(1))
        .startsWith(
            "the first record cannot hold loopback names beside others: localhost:6379, h2:6379,"
                + " h3:6379; a loopback name leads to another server");
    assertThat(set.records).isEmpty();
    SetFixture local = new SetFixture("localhost:1", "127.0.0.1:2", "[::1]:3/2", "0.0.0.0:4");
    assertThat(local.settle().objections()).containsOnlyNulls();
    SetFixture named = new SetFixture("localhost:1", "cluster 127.0.0.1:2", "a name");
    assertThat(named.settle().objections()).as("not all are addresses").containsOnlyNulls();
  }

  // Founding.

  /** The proposals of two programs: each sees what the other has written. */
  @Test
  void programThatBegan_andDiedAtAnyStep_isFollowedByAnother() {
    for (int steps = 0; steps < 6; steps++) {
      SetFixture one = new SetFixture("a", "b", "c");
      for (int i = 0; i < steps; i++) {
        one.make(one.review().tells());
      }
      SetFixture two = one.another("a", "b", "c");
      two.down.add("a"); // The first node of the one that died comes back later.
      two.now += Membership.FIRST_RECORD_NANOS;
      two.settle();
      two.down.clear();
      Decision settled = two.settle();
      assertThat(settled.objections()).as("steps " + steps).containsOnlyNulls();
      assertThat(two.records.values())
          .extracting(NodeRecord::id)
          .containsOnly(settled.members().id());
    }
  }

  /** The founder died after its first record, and a member is down: NodesIT found this. */
  @Test
  void firstRecord_onOneNode_isCompletedWhereItsProposalIs() {
    SetFixture set = new SetFixture("a", "b", "c");
    List<String> members = List.of("a", "b", "c");
    set.records.put("a", NodeRecord.first("d9", members, 5_000).of("a"));
    set.records.put("b", NodeRecord.proposal("d9", members, 5_000).of("b"));
    set.down.add("c");
    assertThat(set.settle().objections().subList(0, 2)).containsOnlyNulls();
    assertThat(set.record("b").epoch()).isEqualTo(1);
  }

  @Test
  void proposals_thatSplitTheNodes_giveWayToTheSmallestIdentity() {
    SetFixture set = new SetFixture("a", "b", "c", "d");
    List<String> members = List.of("a", "b", "c", "d");
    for (String node : members) {
      String id = node.compareTo("c") < 0 ? "d3" : "d4";
      set.records.put(node, NodeRecord.proposal(id, members, 5_000).of(node));
    }
    assertThat(set.settle().objections()).containsOnlyNulls();
    assertThat(set.records.values()).extracting(NodeRecord::id).containsOnly("d3");
  }

  @Test
  void proposalOfAnotherList_onASharedNode_keepsTheOtherFromBeginning() {
    SetFixture set = new SetFixture("c", "d", "e");
    set.records.put("c", NodeRecord.proposal("d9", List.of("a", "b", "c"), 5_000).of("c"));
    set.down.addAll(List.of("a", "b"));
    set.now += 10 * SetFixture.SECOND;
    assertThat(set.settle().objections().get(0))
        .contains("c shows deployment d9: a proposal that was not completed: a, b, c; d shows no");
    assertThat(set.records.keySet()).containsExactly("c");
  }

  /** All lost their keys, and a program that started then was faster than this one. */
  @Test
  void client_ofADeploymentThatWasFoundedAnew_followsAfterAGuardTime() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.settle();
    NodeRecord anew = NodeRecord.first("d9", List.of("a", "b", "c"), 5_000);
    List.of("a", "b", "c").forEach(node -> set.records.put(node, anew.of(node)));
    assertThat(set.settle().objections()).doesNotContainNull();
    set.now += SetFixture.GUARD + 1;
    Decision settled = set.settle();
    assertThat(settled.members().id()).isEqualTo("d9");
    assertThat(settled.objections()).containsOnlyNulls();
  }

  @Test
  void nodes_withTwoSealedSetsOfOneEpoch_areKeptOutWithBothSets() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.records.put("a", NodeRecord.first("d1", List.of("a", "b", "c"), 5_000).of("a"));
    set.records.put("b", NodeRecord.first("d1", List.of("b", "d", "e"), 5_000).of("b"));
    Decision decision = set.review();
    assertThat(decision.objections())
        .containsOnly(
            "contradiction: a says epoch 1: a, b, c, and b says epoch 1: b, d, e" + REMEDY);
    assertThat(decision.tells()).isEmpty();
  }

  @Test
  void node_thatContradictsWhatTheClientWorksWith_isKeptOut() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.settle();
    set.down.addAll(List.of("b", "c"));
    set.records.put("a", NodeRecord.first("d1", List.of("a", "d", "e"), 5_000).of("a"));
    assertThat(set.review().objections())
        .containsOnly(
            "contradiction: this client works with epoch 1: a, b, c, and a node says epoch 1: a, d,"
                + " e"
                + REMEDY);
  }

  @Test
  void nodesThatShowNoRecord_voteUntilTheSetHasChanged() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.silent.addAll(List.of("a", "b"));
    assertThat(set.settle().objections()).containsOnlyNulls();
    assertThat(set.record("c")).isEqualTo(set.membership.current().of("c"));
    List<String> more = List.of("a", "b", "c", "d");
    for (String member : List.of("c", "d")) {
      set.records.put(
          member,
          new NodeRecord("d1", member, 2, more, List.of(), 2, 0, 0, 5_000, 5_000, set.now / 1_000));
    }
    assertThat(set.settle().objections().subList(0, 2))
        .containsOnly("shows no record of the set, which has changed: epoch 2: a, b, c, d");
  }

  @Test
  void client_withLongerLeasesThanTheNodesAllow_countsNoVote_untilTheyAllowThem() {
    SetFixture first = new SetFixture("a", "b", "c");
    first.settle();
    SetFixture longer = first.another(SetFixture.MAX_LEASE + 1, "a", "b", "c");
    Decision refused = longer.settle();
    assertThat(refused.objections())
        .containsOnly(
            "its record holds maxLeaseTime 5000 ms, and this client uses 5001 ms: raise that of the"
                + " nodes first, or lower that of this client");
    assertThat(refused.members().admittedBy(longer.record("a"))).isFalse();
    SetFixture shorter = first.another(SetFixture.MAX_LEASE - 1, "a", "b", "c");
    assertThat(shorter.settle().objections()).containsOnlyNulls();
    for (String name : List.of("a", "b", "c")) { // An operator has raised it.
      NodeRecord before = longer.record(name);
      longer.records.put(
          name,
          new NodeRecord(
              "d1", name, 2, before.members(), before.members(), 2, 1, 1, 6_000, 6_000, 0));
    }
    Decision allowed = longer.settle();
    assertThat(allowed.objections()).containsOnlyNulls();
    assertThat(allowed.members().admittedBy(longer.record("a"))).isTrue();
  }

  @Test
  void firstRecords_withTwoLongestLeaseTimes_areAContradictionWithBoth() {
    SetFixture set = new SetFixture("a", "b");
    set.records.put("a", NodeRecord.first("d1", List.of("a", "b"), 5_000).of("a"));
    set.records.put("b", NodeRecord.first("d1", List.of("a", "b"), 6_000).of("b"));
    assertThat(set.review().objections())
        .containsOnly(
            "contradiction: a says epoch 1: a, b with maxLeaseTime 5000 ms, and b says epoch 1: a,"
                + " b with maxLeaseTime 6000 ms"
                + REMEDY);
  }

  @Test
  void configuredNode_ofAnotherDeployment_keepsItsRecord() {
    SetFixture set = new SetFixture("a", "b", "x");
    NodeRecord other = NodeRecord.first("d9", List.of("x", "y", "z"), 5_000).of("x");
    set.records.put("x", other);
    for (String member : List.of("a", "b", "c")) {
      List<String> members = List.of("a", "b", "c");
      set.records.put(
          member,
          new NodeRecord(
              "d1",
              member,
              2,
              members,
              List.of(),
              2,
              0,
              0,
              SetFixture.MAX_LEASE,
              SetFixture.MAX_LEASE,
              1));
    }
    assertThat(set.settle().members().names()).containsExactly("a", "b", "c");
    assertThat(set.record("x")).isEqualTo(other);
  }

  @Test
  void oneServerUnderTwoNames_keepsBoth_whicheverWasRecorded() {
    SetFixture set = new SetFixture("a", "other-a", "b");
    set.hosts.put("other-a", "a");
    List<String> members = List.of("a", "b", "other-a");
    set.records.put("a", NodeRecord.first("d1", members, SetFixture.MAX_LEASE).of("other-a"));
    set.records.put("b", NodeRecord.first("d1", members, SetFixture.MAX_LEASE).of("b"));
    Decision decision = set.settle();
    assertThat(decision.missing()).isEmpty();
    assertThat(decision.members().mask()).isEqualTo(0b111);
  }

  @Test
  void memberThatRestartedEmpty_copiesTheWordOfOneOther() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.settle();
    set.records.remove("a");
    set.down.add("c");
    Decision decision = set.review();
    assertThat(decision.tells()).hasSize(1);
    assertThat(decision.objections().get(0))
        .isEqualTo("has no record of the set yet: epoch 1: a, b, c");
    set.now += SetFixture.SECOND;
    assertThat(set.settle().objections()).containsOnlyNulls();
    assertThat(set.record("a").promised()).isEqualTo(set.now / 1_000);
  }

  @Test
  void memberThatRestartedEmpty_withoutTheWordOfAnother_staysEmpty() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.settle();
    set.records.remove("a");
    set.down.addAll(List.of("b", "c"));
    assertThat(set.settle().tells()).isEmpty();
    assertThat(set.record("a").exists()).isFalse();
  }

  @Test
  void allNodes_thatRestartedEmpty_getTheRecordOfAClientThatKnewIt() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.settle();
    set.records.clear();
    set.now += 60 * SetFixture.SECOND;
    set.settle();
    assertThat(set.records).containsOnlyKeys("a", "b", "c");
  }

  @Test
  void majority_thatRestartedEmpty_getsTheRecordOnlyFromAClientThatSawItOfLate() {
    for (boolean late : List.of(true, false)) {
      SetFixture set = new SetFixture("a", "b", "c");
      set.settle();
      set.records.clear();
      set.down.add("c");
      set.now += late ? SetFixture.GUARD + 1 : SetFixture.GUARD;
      set.settle();
      assertThat(set.records).hasSize(late ? 0 : 2);
    }
  }

  @Test
  void straggler_withAnOldSet_isToldAndFollows() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.settle();
    set.records.put("a", THIRD.of("a"));
    Decision settled = set.settle();
    assertThat(set.membership.current().epoch()).isEqualTo(3);
    assertThat(set.record("b").epoch()).isEqualTo(3);
    assertThat(set.record("c").epoch()).isEqualTo(3); // Removed: it sends others on.
    assertThat(settled.members().names()).containsExactly("a", "b", "d");
    assertThat(settled.objections().get(2)).isEqualTo("is no member of the set: epoch 3: a, b, d");
  }

  @Test
  void removedMaster_alone_sendsAnOldClientOn() {
    SetFixture set = new SetFixture("c");
    List.of("a", "b", "c", "d").forEach(node -> set.records.put(node, THIRD.of(node)));
    set.now += Membership.FIRST_RECORD_NANOS;
    Decision settled = set.settle();
    assertThat(set.names).containsExactly("c", "a", "b", "d");
    assertThat(settled.members())
        .isEqualTo(new Members("d1", 3, List.of("a", "b", "d"), 0b1110, SetFixture.MAX_LEASE));
  }

  @Test
  void client_thatSpellsNodesDifferently_worksWithTheNamesOfTheRecord() {
    SetFixture first = new SetFixture("a", "b", "c");
    first.settle();
    first.hosts.put("10.0.0.1", "a");
    first.hosts.put("10.0.0.2", "b");
    first.hosts.put("10.0.0.3", "c");
    SetFixture other = first.another("10.0.0.1", "10.0.0.2", "10.0.0.3");
    Decision settled = other.settle();
    assertThat(settled.members())
        .isEqualTo(new Members("d1", 1, List.of("a", "b", "c"), 7, SetFixture.MAX_LEASE));
    assertThat(settled.objections()).containsOnlyNulls();
    assertThat(settled.missing()).isEmpty();
    other.records.remove("b");
    other.settle();
    assertThat(other.record("10.0.0.2").name()).isEqualTo("b");
  }

  @Test
  void openSet_onAMinority_isNotAdopted() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.settle();
    NodeRecord open =
        new NodeRecord(
            "d1",
            "",
            2,
            List.of("a", "b", "c", "d"),
            List.of("a", "b", "c"),
            1,
            9,
            9,
            5_000,
            5_000,
            7);
    set.records.put("a", open.of("a"));
    assertThat(set.settle().members().epoch()).isEqualTo(1);
    assertThat(set.names).contains("d");
    assertThat(set.membership.isWanted(3)).isTrue();
    set.records.put("b", open.of("b"));
    assertThat(set.settle().members().epoch()).isEqualTo(1);
    set.records.put("d", open.of("d"));
    assertThat(set.settle().members().epoch()).isEqualTo(2);
  }

  @Test
  void memberOfTheSetBefore_untilTheChangeIsComplete_staysConnected() {
    SetFixture set = new SetFixture("a", "b");
    set.settle();
    NodeRecord open =
        new NodeRecord("d1", "", 2, List.of("b"), List.of("a", "b"), 1, 9, 9, 5_000, 5_000, 7);
    set.records.put("b", open.of("b"));
    set.settle();
    assertThat(set.membership.current().members()).containsExactly("b");
    assertThat(set.membership.isWanted(0)).isTrue();
    NodeRecord sealed = RecordScript.after(open.of("b"), seal(open), 8);
    set.records.put("b", sealed);
    set.settle();
    assertThat(set.membership.isWanted(0)).as("an operator may have to tell it").isTrue();
    set.records.put("a", sealed.of("a").complete());
    set.settle();
    assertThat(set.membership.isWanted(0)).as("no member knows that it is complete").isTrue();
    set.records.put("b", sealed.complete());
    set.settle();
    assertThat(set.membership.isWanted(0)).isFalse();
  }

  /** Seed 19520 of SHELL_SETS: no client got a vote any more, so no operator could continue. */
  @Test
  void openSet_thatItsMembersHaveForgotten_isLeftForTheSetBefore() {
    SetFixture set = new SetFixture("a", "b");
    set.settle();
    NodeRecord open =
        new NodeRecord(
            "d1", "", 2, List.of("a", "b", "c"), List.of("a", "b"), 1, 9, 9, 5_000, 5_000, 7);
    NodeRecord first = set.record("b");
    set.records.put("b", open.of("b"));
    set.records.put("c", open.of("c"));
    assertThat(set.settle().members().epoch()).isEqualTo(2);
    set.records.put("b", first);
    assertThat(set.settle().members().names()).containsExactly("a", "b");
    set.records.put("b", open.of("b"));
    assertThat(set.settle().members().epoch()).isEqualTo(2);
  }

  @Test
  void memberOfTheSetBefore_thatRestartedEmptyWhileAChangeIsOpen_getsTheSetBefore() {
    SetFixture set = new SetFixture("a", "b");
    set.settle();
    set.records.remove("a");
    NodeRecord open =
        new NodeRecord("d1", "", 2, List.of("b"), List.of("a", "b"), 1, 9, 9, 5_000, 5_000, 7);
    set.records.put("b", open.of("b"));
    set.settle();
    assertThat(set.record("a").members()).containsExactly("a", "b"); // It can promise.
    assertThat(set.record("a").promised()).isEqualTo(set.now / 1_000);
  }

  /** The change was given up: another one may have been made in its place. */
  @Test
  void nodeThatWasToBeAdded_vouchesForNoMember() {
    SetFixture set = new SetFixture("a", "b");
    set.settle();
    set.names.add("c");
    NodeRecord open =
        new NodeRecord(
            "d1", "", 2, List.of("a", "b", "c"), List.of("a", "b"), 1, 9, 9, 5_000, 5_000, 7);
    set.records.put("c", open.of("c"));
    set.records.remove("a");
    set.down.add("b");
    set.settle();
    assertThat(set.record("a").exists()).isFalse();
  }

  @Test
  void nodeThatMayBecomeAMember_andIsOfAnotherDeployment_isNeitherHeardNorTold() {
    SetFixture set = new SetFixture("a", "b", "c");
    set.settle();
    set.names.add("x"); // An operator wants to add it.
    NodeRecord other = NodeRecord.first("d9", List.of("x", "y"), SetFixture.MAX_LEASE).of("x");
    set.records.put("x", other);
    Decision sameEpoch = set.settle();
    assertThat(sameEpoch.objections().subList(0, 3)).containsOnlyNulls();
    for (String member : List.of("a", "b", "c")) {
      set.records.put(
          member,
          new NodeRecord(
              "d1",
              member,
              4,
              set.record("a").members(),
              List.of(),
              4,
              9,
              9,
              SetFixture.MAX_LEASE,
              SetFixture.MAX_LEASE,
              7));
    }
    set.settle();
    assertThat(set.membership.current().epoch()).isEqualTo(4);
    assertThat(set.record("x")).isEqualTo(other);
    NodeRecord later =
        new NodeRecord("d9", "a", 9, List.of("a", "b", "c"), List.of(), 9, 9, 9, 5_000, 5_000, 7);
    set.records.put("x", later); // Names may be the same in another network.
    assertThat(set.settle().objections().subList(0, 3)).containsOnlyNulls();
    assertThat(set.membership.current().epoch()).isEqualTo(4);
  }

  @Test
  void openRecord_withoutASetBefore_isNotFollowed() {
    SetFixture set = new SetFixture("a", "b", "c");
    Decision settled = set.settle();
    set.records.put(
        "a", new NodeRecord("d1", "a", 99, List.of("a", "b"), List.of(), 1, 9, 9, 5_000, 5_000, 7));
    assertThat(set.settle().members()).isEqualTo(settled.members());
  }

  @Test
  void nodeThatWasJustNumbered_isWanted() {
    SetFixture set = new SetFixture("a");
    set.settle();
    assertThat(set.membership.isWanted(1)).isTrue();
  }

  private static NodeRecord.Change seal(NodeRecord record) {
    return new NodeRecord.Change(NodeRecord.Change.Kind.SEAL, record);
  }
}
