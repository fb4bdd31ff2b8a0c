package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.it.failures.ShardFailures.Fault;
import dev.redlock.it.failures.ShardFailures.Mode;
import dev.redlock.it.failures.ShardFailures.Plan;
import dev.redlock.it.failures.ShardFailures.Result;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Short runs of {@code bin/failures --shards}. */
@Tag("thorough")
class ShardFailuresIT {
  private static final long SEED = 19;

  private static Result run(Mode mode, int masters, int failovers, List<Fault> faults)
      throws Exception {
    Result result =
        new ShardFailures(new Plan(mode, masters, failovers, faults, SEED, mode == Mode.SINGLE))
            .run();
    System.out.println(result.line());
    return result;
  }

  /** The control: in this harness, a name that lives on one shard is granted twice. */
  @Test
  void oneShardPerName_failoversWithLostWrites_grantTwice() throws Exception {
    assertThat(run(Mode.SINGLE, 3, 40, List.of(Fault.KILL)).overlaps()).isPositive();
  }

  @Test
  void spreadOverThree_failoversWithLostWrites_grantOnce() throws Exception {
    assertGrantedOnce(run(Mode.SPREAD_3, 3, 6, List.of(Fault.KILL)));
  }

  @Test
  void spreadOverThree_mastersKilledPausedAndCut_grantOnce() throws Exception {
    assertGrantedOnce(run(Mode.SPREAD_3, 3, 6, List.of(Fault.values())));
  }

  @Test
  void spreadOverFive_mastersKilledPausedAndCut_grantOnce() throws Exception {
    assertGrantedOnce(run(Mode.SPREAD_5, 5, 4, List.of(Fault.values())));
  }

  private static void assertGrantedOnce(Result result) {
    assertThat(result.overlaps()).as(result.line()).isZero();
    assertThat(result.lostUpdates()).as(result.line()).isZero();
    assertThat(result.fallingTokens()).as(result.line()).isZero();
    assertThat(result.lostBytes()).as(result.line()).isPositive();
    assertThat(result.sections()).as(result.line()).isGreaterThan(result.failovers());
  }
}
