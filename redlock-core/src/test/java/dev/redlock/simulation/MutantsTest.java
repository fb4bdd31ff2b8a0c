package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A check that no fault can turn red is none: see {@link Mutant}. */
class MutantsTest {
  private static final long SEEDS = 400;

  @Test
  void everyMutant_isCaught() throws Exception {
    List<MutantHunt.Outcome> outcomes =
        MutantHunt.hunt(Path.of(""), null, SEEDS, Runtime.getRuntime().availableProcessors());
    assertThat(outcomes.size()).isGreaterThan(40);
    assertThat(
            outcomes.stream()
                .filter(o -> !o.caught())
                .map(o -> o.mutant().name())
                .collect(Collectors.toList()))
        .as("mutants that nothing caught")
        .isEmpty();
    System.out.println("mutants caught=" + outcomes.size() + " of=" + outcomes.size());
  }
}
