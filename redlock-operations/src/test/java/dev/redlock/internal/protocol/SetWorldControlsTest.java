package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The worlds of {@link SetWorldTest} would find a broken rule. */
@Tag("thorough")
final class SetWorldControlsTest {
  private static final int CONTROL_SEEDS = 20_000;

  // A wait after the seal of a majority only is refused by the model; here it takes more seeds.
  @ParameterizedTest
  @EnumSource(value = SetWorld.Break.class, names = "MAJORITY_SEAL", mode = EnumSource.Mode.EXCLUDE)
  void worlds_withABrokenRule_haveTwoOwners(SetWorld.Break rule) {
    SetWorld.Coverage coverage = new SetWorld.Coverage();
    String found = null;
    long seed = 0;
    while (seed < CONTROL_SEEDS && found == null) {
      seed++;
      String violation = new SetWorld(seed, EnumSet.of(rule), coverage, false).run();
      found = violation != null && violation.startsWith("two leases") ? violation : null;
    }
    assertThat(found).as("a broken rule, %s, within %d seeds", rule, seed).isNotNull();
    System.out.println(rule + ": seed " + seed);
  }
}
