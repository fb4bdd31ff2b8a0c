package dev.redlock.proof;

import static com.microsoft.z3.Status.UNSATISFIABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * Nothing in the proofs is superfluous: without any one of the assumptions, guards and clauses (the
 * theorems aside) at least one obligation fails. Prints what fails.
 *
 * <p>A clause is true because an action has a guard. This is where the code has each assumption and
 * guard, and the mutant that removes it there ({@code bin/simulate --mutants --only "…"}):
 *
 * <ul>
 *   <li>two quorums share a node: in {@code Members.quorum}; mutant "half of the nodes counts as a
 *       quorum"
 *   <li>a key lives as long as the lease is valid: in {@code Validity.remaining}; mutant "the drift
 *       is not subtracted from the validity"
 *   <li>guard time covers each lease; quarantine outlasts the window: in {@code
 *       RestartGuard.guardTime}, {@code Quarantine}; mutant "a node that lost its keys votes at
 *       once (no quarantine)"
 *   <li>a young node waits until no vote counts: in {@code ExtendRound.counts}; mutant "a node that
 *       was just quarantined counts in an extension"
 *   <li>a fence outlives the window: in {@code EncodedRequest.fenceLifeMillis}; mutant "fences
 *       expire after one second"
 *   <li>ask: it has not begun: in {@code Acquirer}: a new lease id for each round; mutant "the next
 *       attempt uses the same lease id"
 *   <li>send: the node is not quarantined: in {@code Nodes.votes}; mutant "quarantined nodes vote"
 *   <li>grant: no other key is there: in {@code acquire.lua}: {@code SET … NX}, {@code holder};
 *       mutant "a node grants although another lease holds the key"
 *   <li>grant: the token is above the fence: in {@code acquire.lua}: {@code proposed <= known};
 *       mutant "a node grants a token that equals its fence"
 *   <li>grant: within the window: in {@code acquire.lua}: {@code inWindow}; mutant "a node grants
 *       tokens outside the window of its clock"
 *   <li>win: a quorum voted: in {@code QuorumTally.isWon}; mutant "the quorum is taken of the
 *       reachable nodes only"
 *   <li>win: all granted the same token: in {@code AcquireRound}: one token for each round; mutant
 *       "votes for two tokens are added up"
 *   <li>win: its votes are young: in {@code AcquireRound.judge}: {@code tooOld}; mutant "votes
 *       never become too old"
 *   <li>win: validity is left: in {@code AcquireRound.judge}: {@code inTime}; mutant "the time
 *       since the first send is not checked"
 *   <li>extend, renew: it is held, validity is left: in {@code ExtendRound.judge}: {@code inTime};
 *       mutant "the lease is extended after its validity has ended"
 *   <li>renew: a quorum replied: in {@code ExtendRound.judge}; mutant "one node less than a quorum
 *       extends the lease"
 *   <li>prolong: no other key is there: in {@code extend.lua}: {@code elseif owner}; mutant "an
 *       extension takes the key of another lease"
 *   <li>release: it is over: in {@code HeldLease.askRelease}; {@code release.lua}: {@code values[i]
 *       == id}; mutants "a lease is valid until the nodes confirm its release" and "a release
 *       deletes the key of another lease"
 *   <li>ask: the token is a multiple of 64: in {@code TokenChoice.atLeast}; mutant "a proposed
 *       token may be one that another grant owns"
 *   <li>hand off: the lease is valid: in {@code HeldLease.mayHandOff}; mutant "local hand-off
 *       although the votes are too old"
 *   <li>hand off: a token is left: in {@code HeldLease.mayHandOff}; mutant "local hand-off takes
 *       more tokens than the grant owns"
 * </ul>
 *
 * <p>Four guards have no line of their own. A request that arrives after a restart of the node is
 * prevented by TCP: no connection survives the node. Time passes and lose are assumptions about the
 * world. That no extension is open describes the model: the code gives each extension an object of
 * its own.
 */
@Tag("thorough")
class NecessityTest {
  @TestFactory
  Stream<DynamicTest> exclusion_withoutAnyPart_fails() {
    return parts(Exclusion::model, Set.of());
  }

  @TestFactory
  Stream<DynamicTest> tokens_withoutAnyPart_fails() {
    return parts(Tokens::model, Set.of());
  }

  /** What it takes over from the two proofs is checked there. */
  @TestFactory
  Stream<DynamicTest> handOff_withoutAnyPartOfItsOwn_fails() {
    Set<String> others = new HashSet<>(names(Exclusion.model()));
    others.addAll(names(Tokens.model()));
    return parts(HandOff::model, others);
  }

  private static Set<String> names(Model model) {
    Set<String> names = new HashSet<>(model.assumptions());
    names.addAll(model.clauses());
    model.actions().forEach(a -> model.guards(a).forEach(guard -> names.add(a + ": " + guard)));
    return names;
  }

  private static Stream<DynamicTest> parts(Supplier<Model> whole, Set<String> except) {
    Model model = whole.get();
    List<DynamicTest> parts = new ArrayList<>();
    for (String assumption : model.assumptions()) {
      add(parts, except, assumption, () -> whole.get().withoutAssumption(assumption));
    }
    for (String clause : model.clauses()) {
      if (!model.theorems().contains(clause)) {
        add(parts, except, clause, () -> whole.get().withoutClause(clause));
      }
    }
    for (String action : model.actions()) {
      for (String guard : model.guards(action)) {
        String name = action + ": " + guard;
        add(parts, except, name, () -> whole.get().withoutGuard(action, guard));
      }
    }
    return parts.stream();
  }

  private static void add(
      List<DynamicTest> parts, Set<String> except, String name, Supplier<Model> rest) {
    if (!except.contains(name)) {
      parts.add(dynamicTest(name, () -> assertFails(name, rest.get())));
    }
  }

  private static void assertFails(String without, Model rest) {
    List<String> failing =
        rest.obligations().stream()
            .filter(obligation -> Solver.check(obligation.script()) != UNSATISFIABLE)
            .map(Model.Obligation::toString)
            .toList();
    System.out.println("without " + without + ": " + String.join(", ", failing));
    assertThat(failing).isNotEmpty();
  }
}
