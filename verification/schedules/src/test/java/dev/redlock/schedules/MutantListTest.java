package dev.redlock.schedules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.redlock.harness.mutants.Mutant;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The lists of the mutants, without a hunt. */
class MutantListTest {
  private static final List<Mutant> ALL =
      Stream.of(ScheduleMutants.all(), ConnectionMutants.all()).flatMap(List::stream).toList();

  @Test
  void mutants_haveNamesOfTheirOwn_andFitTheSources() throws Exception {
    assertThat(ALL).hasSizeGreaterThan(40).extracting(Mutant::name).doesNotHaveDuplicates();
    assertThat(ALL)
        .allSatisfy(
            mutant ->
                assertThatCode(() -> mutant.requireFits(Path.of("..", "..")))
                    .doesNotThrowAnyException());
  }
}
