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
