package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In virtual time: the assertions do not depend on the machine. */
class CollisionsTest {
  private static final int TIMES = 30;
  private static final int MAX_ROUNDS = 5;

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8, 9, 10})
  void freeName_wantedByManyAtOnce_isSettledInAFewRoundTrips(int clients) {
    for (int seed = 1; seed <= TIMES; seed++) {
      Collisions.Sample settled = Collisions.collide(seed, clients);
      assertThat(settled.nanos())
          .as("seed %d, %d clients", seed, clients)
          .isLessThan(30 * Collisions.ROUND_TRIP);
      assertThat(settled.rounds())
          .as("seed %d, %d clients: the highest number of rounds of any client", seed, clients)
          .isLessThanOrEqualTo(MAX_ROUNDS);
      assertThat(settled.commands())
          .as("seed %d, %d clients: rounds of five, with roll-back", seed, clients)
          .isLessThan(clients * 30L);
    }
  }

  @Test
  void handOver_whileTwentyProcessesWait_takesTwoRoundTripsAndTwoRounds() {
    for (int seed = 1; seed <= 3; seed++) {
      List<Collisions.Sample> samples = Collisions.handOver(seed, 20, false);
      assertThat(commands(samples)).as("requests, seed %d", seed).isLessThan(13);
      assertThat(samples.stream().mapToLong(Collisions.Sample::nanos).average().orElseThrow())
          .as("seed %d", seed)
          .isLessThan(2.5 * Collisions.ROUND_TRIP);
    }
  }

  /**
   * The first of the queue learns of the release from another node's invalidation, the others from
   * their polls. If two of them ask at the same time, they may split the votes of the four nodes
   * that reply. Then each waits for the hung one, once, for a node timeout.
   */
  @Test
  void handOver_homeNodeHangs_costsTheFirstSomePatienceAndTheOthersAPoll() {
    for (int seed = 1, splits = 0; seed <= 20; seed++) {
      List<Collisions.Sample> samples = Collisions.handOver(seed, 20, true);
      assertThat(commands(samples)).as("requests, seed %d", seed).isLessThan(20);
      assertThat(samples.get(0).nanos())
          .as("until the first has it, seed %d", seed)
          .isLessThan(60 * Scenario.MS + LockOptions.defaults().nodeTimeout().toNanos());
      splits += samples.get(0).nanos() < 60 * Scenario.MS ? 0 : 1;
      assertThat(splits).as("hand-overs with split votes").isLessThan(4);
      assertThat(samples.stream().mapToLong(Collisions.Sample::nanos).sum())
          .as("until all had it, seed %d", seed)
          .isLessThan(3 * Scenario.SECOND);
    }
  }

  private static double commands(List<Collisions.Sample> samples) {
    return samples.stream().mapToLong(Collisions.Sample::commands).average().orElseThrow();
  }
}
