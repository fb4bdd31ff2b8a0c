package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The numbers of the code satisfy the assumptions of the proofs in {@code dev.redlock.proof}. */
class AssumptionsTest {
  private static final Duration WINDOW =
      Duration.ofNanos(
          1_000 * (LockRequest.Acquire.SLACK_MICROS + LockRequest.Acquire.AHEAD_MICROS));

  @Test
  void guardTime_ofAnyLongestLease_coversItAndTheWindow() {
    for (long millis = 10; millis <= 3_600_000; millis += 10) {
      Duration longest = Duration.ofMillis(millis);
      assertThat(RestartGuard.guardTime(longest)).isGreaterThan(longest).isGreaterThan(WINDOW);
    }
  }

  @Test
  void youngNode_waitsLongerThanVotesOfAnyRoundCount() {
    Duration longestRound = Duration.ofSeconds(1);
    LockOptions.builder().nodeTimeout(longestRound).build(); // and no longer one: see LockOptions
    assertThat(Duration.ofNanos(ExtendRound.QUARANTINE_COUNTS_NANOS)).isGreaterThan(longestRound);
  }

  @Test
  void tokensOfAGrant_areAsManyAsInTheProof() {
    assertThat(HeldLease.TOKENS_PER_GRANT).isEqualTo(64);
  }
}
