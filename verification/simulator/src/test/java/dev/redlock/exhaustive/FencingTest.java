package dev.redlock.exhaustive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.exhaustive.NodeRule.Request;
import dev.redlock.exhaustive.Scope.Check;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Fencing tokens in every history of a small scope; {@link Search} defines a history. The nodes are
 * those of the executable specification.
 *
 * <p>The same search must find each flaw that a review or an earlier search has found. A search
 * that finds no flaw proves nothing.
 */
class FencingTest {
  private static final RealRule REAL = new RealRule();

  @Test
  void tokens_twoClientsWithTwoAttemptsEach_areDistinctAndOrdered() {
    hold("3 nodes, 2 clients x 2 attempts", Scope.of(3, 2, 2, 2, REAL));
  }

  @Test
  void tokens_threeClientsWithOneAttemptEach_areDistinctAndOrdered() {
    hold("3 nodes, 3 clients x 1 attempt", Scope.of(3, 2, 3, 1, REAL));
  }

  @Test
  void oneNode_ofAnySet_neverLowersItsFenceNorBringsBackWhatWasFreed() {
    hold(
        "one node of any set, 2 clients x 2 attempts",
        Scope.of(1, 0, 2, 2, REAL).checking(Check.ON_ONE_NODE).goingToTheEnd());
  }

  @Test
  void plainRule_everyStateAndRequest_isTheSpecification() {
    NodeRule plain = new PlainRule();
    int compared = 0;
    for (int state = 0; state < NodeRule.PLAIN_STATES; state++) {
      if (REAL.isReachable(state)) {
        for (Request request : REAL.all()) {
          assertThat(plain.step(state, request))
              .as("%s %s", NodeRule.describe(state), request)
              .isEqualTo(REAL.step(state, request));
          compared++;
        }
      }
    }
    System.out.printf(
        "fencing: a node has %d states; %d requests on them compared, %d executed%n",
        REAL.reached(), compared, REAL.executed());
    assertThat(REAL.reached()).isGreaterThan(40);
  }

  @Test
  void foldedNodes_smallerScope_areTheUnfoldedOnes() {
    for (int[] tokens : new int[][] {{1, 2}, {1, 1}, {2, 1, 2}}) {
      Scope scope = Scope.of(3, 2, tokens.length, 1, REAL);
      Search folded = new Search(scope, tokens).run();
      Search unfolded = new Search(scope.unfolded(), tokens).run();
      assertThat(folded.states()).isLessThan(unfolded.states());
      assertThat((long) folded.states()).isEqualTo(unfolded.folded());
    }
  }

  @Test
  void clients_exchanged_haveAsManyHistories() {
    Scope scope = Scope.of(3, 2, 2, 2, REAL);
    assertThat(new Search(scope, 1, 1, 1, 2).run().states())
        .isEqualTo(new Search(scope, 1, 2, 1, 1).run().states());
  }

  // Nodes that lose their keys.

  @Test
  void tokens_oneOfThreeForgetsAndVotesOn_areOutOfOrder() {
    find(Scope.of(3, 2, 2, 1, REAL).forgetting(1), Check.ORDERED);
    find(Scope.of(3, 2, 2, 1, REAL).forgetting(1), Check.DISTINCT);
  }

  @Test
  void tokens_oneOfFourForgetsWithAQuorumOfThree_holdAndTwoDoNot() {
    // Any two quorums share 2q - N nodes, of which one has to remember.
    hold("4 nodes, quorum 3, one forgets", Scope.of(4, 3, 2, 1, REAL).forgetting(1));
    find(Scope.of(4, 3, 2, 1, REAL).forgetting(2), Check.ORDERED);
  }

  // Flawed nodes.

  @ParameterizedTest
  @EnumSource(
      value = Flaw.class,
      names = {
        "ROLL_BACK_RESTORES_FENCE",
        "ROLL_BACK_DELETES_FENCE",
        "EXTEND_SETS_FENCE",
        "RELEASE_SETS_FENCE"
      })
  void tokens_flawedNode_areOutOfOrder(Flaw flaw) {
    find(Scope.of(3, 2, 2, 2, new PlainRule(flaw)), Check.TOKENS);
  }

  @Test
  void tokens_nodeThatGrantsItsFenceAgain_areNotDistinct() {
    find(Scope.of(3, 2, 2, 1, new PlainRule(Flaw.SAME_TOKEN_GRANTED)), Check.DISTINCT);
  }

  @Test
  void tokens_repeatRecognizedByTheLeaseIdAlone_areOutOfOrder() {
    NodeRule node = new PlainRule(Flaw.REPEAT_IGNORES_TOKEN);
    findWith(Scope.of(3, 2, 2, 2, node), Check.ORDERED, 1, 3, 2, 4);
  }

  @ParameterizedTest
  @EnumSource(
      value = Flaw.class,
      names = {"RELEASE_RAISES_NOTHING", "REPAIR_IGNORES_ENDED"})
  void oneNode_flawed_bringsBackWhatWasFreed(Flaw flaw) {
    find(oneNode(flaw), Check.FREED_FOR_GOOD);
  }

  @ParameterizedTest
  @EnumSource(value = Flaw.class, names = "ROLL_BACK_RAISES_ENDED")
  void oneNode_flawed_endsWhatIsNoLeaseOrStillOne(Flaw flaw) {
    find(oneNode(flaw), Check.ENDED_WAS_A_LEASE);
  }

  // Flawed clients.

  @Test
  void tokens_grantsOfTwoRoundsAddedUp_areOutOfOrder() {
    Scope scope = Scope.of(3, 2, 2, 2, REAL);
    findWith(scope.flawed(Flaw.GRANTS_ADDED_UP), Check.ORDERED, 1, 3, 2, 4);
    findWith(scope.flawed(Flaw.GRANTS_ADDED_UP_FIRST_TOKEN), Check.DISTINCT, 1, 2, 1, 3);
  }

  @Test
  void tokens_quorumsThatShareNoNode_areOutOfOrder() {
    find(Scope.of(4, 2, 2, 1, REAL), Check.ORDERED);
  }

  @Test
  void tokens_countedByEachNode_areNeitherDistinctNorOrdered() {
    Counters counters = new Counters();
    Set<String> broken = counters.run();
    System.out.printf(
        "fencing: INCR on each node, the highest counts: found %s in %,d states%n",
        broken, counters.states());
    assertThat(broken).as(counters.firstHistory()).contains("DISTINCT", "ORDERED");
  }

  /**
   * The limit of the promise. If the first grant of a slow client expires before it has a quorum,
   * another client may get the lock with a higher token, and the slow client after it. The resource
   * then rejects the slow client. Its validity excludes this case while clocks keep to the drift.
   */
  @Test
  void tokens_ofLeasesThatWereAskedForAtTheSameTime_mayBeGrantedInTheOtherOrder() {
    find(Scope.of(3, 2, 2, 1, REAL), Check.LATER_IS_HIGHER);
  }

  private static Scope oneNode(Flaw flaw) {
    return Scope.of(1, 0, 2, 2, new PlainRule(flaw)).goingToTheEnd();
  }

  private static void hold(String what, Scope scope) {
    long started = System.nanoTime();
    Exploration e = Exploration.of(scope);
    System.out.printf(
        "fencing: %s: %,d states, %,d steps, %d orders of tokens, %.1f s%n",
        what, e.states(), e.transitions(), e.tokenOrders(), (System.nanoTime() - started) / 1e9);
    assertThat(e.violation()).isNull();
    assertThat(e.won()).as("leases granted").isGreaterThan(100);
  }

  /** With given tokens, where a search of all rankings would take long. */
  private static void findWith(Scope scope, Check check, int... tokens) {
    Search search = new Search(scope.checking(Set.of(check)), tokens).run();
    report(search.states(), String.valueOf(search.violation()));
    assertThat(search.violation()).contains(check.name());
  }

  private static void report(long states, String violation) {
    System.out.printf(
        "fencing: found after %,d states: %s%n", states, violation.lines().toList().get(0));
  }

  private static void find(Scope scope, Check check) {
    find(scope, Set.of(check));
  }

  private static void find(Scope scope, Set<Check> checks) {
    Exploration e = Exploration.until(scope.checking(checks));
    assertThat(e.violation()).as("a history that breaks one of %s", checks).isNotNull();
    report(e.states(), String.valueOf(e.violation()));
    assertThat(List.copyOf(checks)).anyMatch(c -> String.valueOf(e.violation()).contains(c.name()));
  }
}
