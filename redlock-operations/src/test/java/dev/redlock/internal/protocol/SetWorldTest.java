package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

/** Many {@link SetWorld}s. {@code -Dredlock.sets.seeds=300000} runs more of them. */
final class SetWorldTest {
  private static final int SEEDS = Integer.getInteger("redlock.sets.seeds", 400);

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
}
