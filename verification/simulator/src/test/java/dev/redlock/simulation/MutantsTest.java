package dev.redlock.simulation;

import static dev.redlock.simulation.Promises.hunt;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantHunt;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The simulator must catch every fault of {@link ProtocolMutants}. */
@Tag("thorough")
class MutantsTest {
  /** The seed that catches a pause without a limit is the 1,471st. */
  private static final long SEEDS = 1_600;

  @Test
  void everyMutant_isCaught() throws Exception {
    List<MutantHunt.Outcome> outcomes = hunt(SEEDS, ProtocolMutants.all());
    assertThat(outcomes.size()).isGreaterThan(40);
    assertThat(outcomes.stream().filter(o -> !o.isCaught()).map(o -> o.mutant().name()))
        .as("mutants that no history caught")
        .isEmpty();
    System.out.println("mutants caught=" + outcomes.size() + " of=" + outcomes.size());
  }

  /**
   * A hunt must not report a change without a fault, though it loads all classes as for a mutant.
   */
  @Test
  void changeThatIsNone_isNotCaught() throws Exception {
    Mutant none =
        ProtocolMutants.variant(
            "nothing is wrong",
            ProtocolMutants.members("return quorumOf(count());", "return 1 + count() / 2;"));
    assertThat(hunt(SEEDS / 16, List.of(none)))
        .singleElement()
        .satisfies(o -> assertThat(o.isCaught()).as(o.toString()).isFalse());
  }
}
