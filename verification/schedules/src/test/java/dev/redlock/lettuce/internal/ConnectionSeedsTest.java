package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The seeds of the connection layer that the build runs. {@code bin/simulate --connections} runs
 * more.
 */
class ConnectionSeedsTest {
  private static final int SEEDS = 60;

  @Test
  void randomHistories_ofOneConnection_keepEveryRule() {
    List<String> broken = new ArrayList<>();
    Map<String, Integer> events = new TreeMap<>();
    int counted = 0;
    long start = System.nanoTime();
    for (long seed = 1; seed <= SEEDS; seed++) {
      ConnectionWorld.Result result = ConnectionWorld.run(seed);
      counted += result.counted();
      result.events().forEach((event, times) -> events.merge(event, times, Integer::sum));
      if (!result.broken().isEmpty()) {
        broken.add("seed " + seed + ": " + result.broken());
      }
    }
    System.out.printf(
        Locale.ROOT,
        "connections: seeds=%d counted=%d broken=%d seconds=%.1f %s%n",
        SEEDS,
        counted,
        broken.size(),
        (System.nanoTime() - start) / 1e9,
        events);
    assertThat(broken).isEmpty();
    assertThat(counted).as("votes that counted").isGreaterThan(20 * SEEDS);
    assertThat(events.keySet())
        .contains(
            "another server",
            "drop",
            "flush",
            "half-open",
            "hang",
            "invalidation",
            "loading",
            "login refused",
            "malformed reply",
            "refused connects",
            "restart behind a proxy",
            "restart with keys",
            "restart without keys",
            "scripts forgotten",
            "scripts forgotten and loaded",
            "silent connects");
  }

  /** The call was sent again with the text of its script, which the new process executed. */
  @Test
  void serverBehindAProxy_thatRestartsAfterItsMarkerWasRead_doesNotVote() {
    assertThat(ConnectionWorld.run(28_155).broken()).isEmpty();
  }

  /** The probe ran out of time when only the clock or the scripts were missing. */
  @ParameterizedTest
  @ValueSource(longs = {101, 145, 799})
  void connectionWhoseProbeTakesTooLong_mayBeEnded(long seed) {
    assertThat(ConnectionWorld.run(seed).broken()).isEmpty();
  }

  /** The client ignores invalidations until the probe has ended, so it reads the marker last. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void serverThatLosesItsKeysWhileItsScriptsAreLoaded_doesNotVote(boolean used) {
    for (long seed = 1; seed <= SEEDS; seed++) {
      assertThat(ConnectionWorld.runWithFlushesBeforeScripts(seed, used).broken())
          .as("seed %d", seed)
          .isEmpty();
    }
  }

  /** The same, while the client asks how old a promotion is. */
  @Test
  void promotedServerThatLosesItsKeysDuringTheProbe_doesNotVote() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      assertThat(ConnectionWorld.runWithFlushesBeforeProofs(seed).broken())
          .as("seed %d", seed)
          .isEmpty();
    }
  }

  @Tag("thorough")
  @Test
  void seed_runTwice_givesTheSameHistory() {
    for (long seed = 1; seed <= 10; seed++) {
      assertThat(ConnectionWorld.run(seed).digest())
          .as("digest of seed " + seed)
          .isEqualTo(ConnectionWorld.run(seed).digest());
    }
  }
}
