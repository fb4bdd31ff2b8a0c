package dev.redlock.proof;

import static com.microsoft.z3.Status.SATISFIABLE;
import static com.microsoft.z3.Status.UNSATISFIABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Each obligation is a test with the name of its action and clause. The solver must find that no
 * state of the invariant and no such step break the clause, for any number of nodes, quorums and
 * acquisitions. A further test of each action shows that the action can happen at all: what
 * contradicts itself would prove everything.
 */
class ProofTest {
  @TestFactory
  Stream<DynamicTest> exclusion_afterEachAction_keepsEachClause() {
    return obligations(Exclusion.model());
  }

  @TestFactory
  Stream<DynamicTest> tokens_afterEachAction_keepEachClause() {
    return obligations(Tokens.model());
  }

  @TestFactory
  Stream<DynamicTest> handOff_afterEachAction_keepsEachClause() {
    return obligations(HandOff.model());
  }

  @TestFactory
  Stream<DynamicTest> exclusion_eachAction_canHappen() {
    return possible(Exclusion.model());
  }

  @TestFactory
  Stream<DynamicTest> tokens_eachAction_canHappen() {
    return possible(Tokens.model());
  }

  @TestFactory
  Stream<DynamicTest> handOff_eachAction_canHappen() {
    return possible(HandOff.model());
  }

  private static Stream<DynamicTest> obligations(Model model) {
    return model.obligations().stream()
        .map(
            obligation ->
                dynamicTest(
                    obligation.toString(),
                    () ->
                        assertThat(Solver.check(obligation.script()))
                            .as(obligation.script())
                            .isEqualTo(UNSATISFIABLE)));
  }

  private static Stream<DynamicTest> possible(Model model) {
    return model.actions().stream()
        .map(
            action ->
                dynamicTest(
                    action,
                    () -> assertThat(Solver.check(model.possible(action))).isEqualTo(SATISFIABLE)));
  }
}
