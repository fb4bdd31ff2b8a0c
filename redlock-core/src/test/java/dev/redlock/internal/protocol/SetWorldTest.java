package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many {@link SetWorld}s. {@code -Dredlock.sets.seeds=300000} runs more of them. */
final class SetWorldTest {
  private static final int SEEDS = Integer.getInteger("redlock.sets.seeds", 3_000);
  private static final int CONTROL_SEEDS = 5_000;

  @Test
  void worlds_withinTheAssumptions_haveOneOwnerAndComplete() {
    SetWorld.Coverage coverage = new SetWorld.Coverage();
    for (long seed = 1; seed <= SEEDS; seed++) {
      String violation = new SetWorld(seed, Set.of(), coverage, false).run();
      assertThat(violation).as("seed %d", seed).isNull();
    }
    System.out.println(coverage);
    assertThat(coverage.worldsWithChange).isGreaterThan(coverage.worlds / 2);
  }

  @ParameterizedTest
  @EnumSource(SetWorld.Break.class)
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
