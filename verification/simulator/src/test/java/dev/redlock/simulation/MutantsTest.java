package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The simulator must catch every fault of {@link Mutant}. */
@Tag("thorough")
class MutantsTest {
  /** The seed that catches a pause without a limit is the 1,471st. */
  private static final long SEEDS = 1_600;

  @Test
  void everyMutant_isCaught() throws Exception {
    List<MutantHunt.Outcome> outcomes =
        MutantHunt.hunt(
            Path.of("..", ".."),
            Mutant.all(),
            SEEDS,
            false,
            Runtime.getRuntime().availableProcessors());
    assertThat(outcomes.size()).isGreaterThan(40);
    assertThat(
            outcomes.stream()
                .filter(o -> !o.caught())
                .map(o -> o.mutant().name())
                .collect(Collectors.toList()))
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
        Mutant.variant(
            "nothing is wrong",
            Mutant.protocol("Members", "return quorumOf(count());", "return 1 + count() / 2;"));
    assertThat(MutantHunt.hunt(Path.of("..", ".."), List.of(none), SEEDS / 16, true, 1))
        .singleElement()
        .satisfies(o -> assertThat(o.caught()).as(o.toString()).isFalse());
  }
}
