package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Virtual time: what is asserted here does not depend on the machine. */
class CollisionsTest {
  private static final int TIMES = 30;
  private static final int MOST_ROUNDS = 5;

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5, 6, 7, 8, 9, 10})
  void freeName_wantedByManyAtOnce_isSettledInAFewRoundTrips(int clients) {
    for (int seed = 1; seed <= TIMES; seed++) {
      Collisions.Sample settled = Collisions.collide(seed, clients);
      assertThat(settled.nanos())
          .as("seed %d, %d clients", seed, clients)
          .isLessThan(30 * Collisions.ROUND_TRIP);
      assertThat(settled.rounds())
          .as("seed %d, %d clients: questions put by whoever put the most", seed, clients)
          .isLessThanOrEqualTo(MOST_ROUNDS);
      assertThat(settled.commands())
          .as("seed %d, %d clients: rounds of five, with roll-back", seed, clients)
          .isLessThan(clients * 30L);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void handOver_whileTwentyProcessesWait_costsAboutOneCommandEach(boolean doorHung) {
    for (int seed = 1; seed <= 3; seed++) {
      List<Collisions.Sample> samples = Collisions.handOver(seed, 20, doorHung);
      assertThat(samples).hasSize(20);
      assertThat(samples.stream().mapToLong(Collisions.Sample::commands).average().orElseThrow())
          .as("seed %d", seed)
          .isLessThan(45);
      assertThat(samples.stream().mapToLong(Collisions.Sample::nanos).average().orElseThrow())
          .as("seed %d", seed)
          .isLessThan(30 * Collisions.ROUND_TRIP);
    }
  }
}
