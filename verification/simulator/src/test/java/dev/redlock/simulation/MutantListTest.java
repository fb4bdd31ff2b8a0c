package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantHunt;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The list of all mutants, without a hunt: {@link MutantsTest} hunts them. */
class MutantListTest {
  private static final List<Mutant> ALL = MutantTrial.all();

  @Test
  void mutants_areExplainedByASentenceOfTheirOwn() {
    assertThat(ALL).extracting(Mutant::name).doesNotHaveDuplicates();
    assertThat(ALL)
        .allSatisfy(mutant -> assertThat(mutant.name().split(" ")).hasSizeGreaterThan(2))
        .allSatisfy(mutant -> assertThat(mutant.source()).matches("M\\d+|[IRSX]"))
        .allSatisfy(mutant -> assertThat(mutant.edits()).isNotEmpty());
  }

  @Test
  void mutants_fitTheSources() {
    assertThat(ALL)
        .allSatisfy(
            mutant ->
                assertThatCode(() -> mutant.requireFits(Path.of("..", "..")))
                    .doesNotThrowAnyException());
  }

  @Test
  void list_hasARowForEachMutant() {
    StringWriter out = new StringWriter();
    MutantHunt.list("simulate", ALL, new PrintWriter(out));

    assertThat(out.toString().lines())
        .hasSize(ALL.size() + 3)
        .contains("| M2 | Members | half of the nodes counts as a quorum |")
        .last()
        .isEqualTo("simulate: mutants=" + ALL.size());
  }
}
