package dev.redlock.proof;

import static com.microsoft.z3.Status.SATISFIABLE;
import static com.microsoft.z3.Status.UNSATISFIABLE;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.z3.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Without a rule of the protocol the solver must find a counterexample, in the obligations that the
 * rule is for and in no others.
 */
class ControlsTest {
  @Test
  void exclusion_guardTimeBelowALease_fails() {
    assertThat(broken(Exclusion.model().withoutAssumption("guard time covers each lease")))
        .containsExactly("grant: VoteVote", "grant: HeldVote", "grant: RenVote", "renew: HeldVote");
  }

  @Test
  void exclusion_keysThatDieBeforeTheLease_fails() {
    assertThat(
            broken(
                Exclusion.model().withoutAssumption("a key lives as long as the lease is valid")))
        .containsExactly(
            "grant: Vote",
            "grant: Held",
            "grant: Ren",
            "prolong: Vote",
            "prolong: Held",
            "prolong: Ren");
  }

  @Test
  void exclusion_quorumsThatDoNotMeet_fails() {
    assertThat(broken(Exclusion.model().withoutAssumption("two quorums share a node")))
        .containsExactly("win: Exclusion");
  }

  @Test
  void exclusion_votesOfAnyAge_fails() {
    assertThat(broken(Exclusion.model().withoutGuard("win", "its votes are young")))
        .containsExactly("win: Exclusion", "win: HeldVote");
  }

  @Test
  void exclusion_youngNodesCount_fails() {
    assertThat(broken(Exclusion.model().withoutGuard("renew", "no reply of a young node")))
        .containsExactly("renew: Intact");
    assertThat(
            broken(Exclusion.model().withoutAssumption("a young node waits until no vote counts")))
        .containsExactly("renew: HeldVote");
  }

  /** Redlock.tla did this until it was proved: a reply from before a restart counted at any age. */
  @Test
  void exclusion_repliesFromBeforeARestartCountAtAnyAge_fails() {
    Model model = Exclusion.model();
    String counts =
        "(or (past a %1$s) (and (ren a %1$s) (or (>= now (+ (rborn a %1$s) (G a %1$s)))"
            + " (>= now (+ (rborn a %1$s) (Y a %1$s))))))";
    model
        .withoutGuard("renew", "no reply of a young node")
        .action("renew", "")
        .guard(
            "young, or from before a restart",
            "(forall ((n Node)) (=> (in n q) " + counts.formatted("n") + "))")
        .change("prot", "b m", "(ite (= b a) " + counts.formatted("m") + " (prot b m))");
    assertThat(broken(model)).containsExactly("renew: HeldVote");
  }

  @Test
  void exclusion_extensionAfterTheDeadline_fails() {
    assertThat(broken(Exclusion.model().withoutGuard("renew", "validity is left")))
        .containsExactly("renew: Exclusion");
  }

  @Test
  void exclusion_moreKeysLostThanAQuorumTolerates_fails() {
    assertThat(broken(Exclusion.model().withoutGuard("lose", "each valid lease keeps a quorum")))
        .containsExactly("lose: Intact");
  }

  @Test
  void readWriteLock_readersDoNotLookForAWriter_fails() {
    Model model = Exclusion.model().constant("writes", "a", "Bool");
    model
        .withoutGuard("grant", "no other key is there")
        .action("grant", "")
        .guard(
            "only a writer looks",
            "(forall ((b Acq)) (=> (and (own n b) (writes a)) (not (clash a b))))");
    assertThat(broken(model))
        .containsExactly("grant: VoteVote", "grant: HeldVote", "grant: RenVote");
  }

  @Test
  void tokens_quarantineWithinTheWindow_fails() {
    assertThat(broken(Tokens.model().withoutAssumption("quarantine outlasts the window")))
        .containsExactly("restart: Fresh");
  }

  @Test
  void tokens_fenceThatFadesWithinTheWindow_fails() {
    assertThat(broken(Tokens.model().withoutAssumption("a fence outlives the window")))
        .containsExactly("time passes: Fresh");
  }

  @Test
  void tokens_withoutSlack_fails() {
    assertThat(broken(Tokens.model().withoutGuard("grant", "not below the window")))
        .containsExactly("grant: Pair", "grant: Ordered");
  }

  @Test
  void tokens_fromAnyFuture_fails() {
    assertThat(broken(Tokens.model().withoutGuard("grant", "not above the window")))
        .containsExactly("grant: Granted", "grant: Fence");
    assertThat(broken(Tokens.model().withoutGuard("raise", "not above the window")))
        .containsExactly("raise: Fence");
  }

  @Test
  void tokens_clocksThatFallBackFurther_fails() {
    assertThat(broken(Tokens.model().withoutGuard("step back", "all steps are small together")))
        .containsExactly("step back: Back");
  }

  @Test
  void handOff_afterTheDeadline_fails() {
    assertThat(broken(HandOff.model().withoutGuard("hand off", "the lease is valid")))
        .containsExactly("hand off: Rising", "hand off: Newest");
  }

  @Test
  void handOff_oneTokenMore_fails() {
    assertThat(broken(HandOff.model().withoutGuard("hand off", "a token is left")))
        .containsExactly("hand off: Handed");
  }

  @Test
  void handOff_proposalsThatAreNoMultiples_fails() {
    assertThat(broken(HandOff.model().withoutGuard("ask", "the token is a multiple of 64")))
        .containsExactly("ask: Spaced");
  }

  /** What excludes what: the proof only needs that a clash has two sides. */
  @Test
  void clash_ofALockAReadWriteLockAndLocksOnSeveralNames_hasTwoSides() {
    String lock = "(not (= a b))";
    String readWrite = "(and (not (= a b)) (or (writes a) (writes b)))";
    String names = "(and (not (= a b)) (shares a b))";
    for (String kind : List.of(lock, readWrite, names)) {
      Model model =
          new Model("TwoSides", "NotItself")
              .constant("writes", "a", "Bool")
              .constant("shares", "a b", "Bool")
              .assume("both share a name", "a b", "(= (shares a b) (shares b a))")
              .define("clash", "a b", kind)
              .clause("TwoSides", "a b", "(= (clash a b) (clash b a))")
              .clause("NotItself", "a", "(not (clash a a))");
      assertThat(broken(model)).as(kind).isEmpty();
    }
  }

  /** The obligations with a counterexample; fails if the solver does not know one. */
  static List<String> broken(Model model) {
    List<String> broken = new ArrayList<>();
    for (Model.Obligation obligation : model.obligations()) {
      Status status = Solver.check(obligation.script());
      if (status != UNSATISFIABLE) {
        assertThat(status).as(obligation.toString()).isEqualTo(SATISFIABLE);
        broken.add(obligation.toString());
      }
    }
    return broken;
  }
}
