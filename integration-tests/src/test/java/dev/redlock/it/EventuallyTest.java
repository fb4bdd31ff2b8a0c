package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.AcquireVerdict;
import dev.redlock.QuorumUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EventuallyTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(50);

  @Test
  void condition_thatNeverHolds_failsWithState() {
    assertThatThrownBy(() -> Eventually.holds(() -> false, SHORT, () -> "n0 is dead"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("not within PT0.05S")
        .hasMessageContaining("n0 is dead");
  }

  @Test
  void assertion_inTheCondition_endsTheWaitAtOnce() {
    AtomicInteger looks = new AtomicInteger();
    assertThatThrownBy(
            () ->
                Eventually.holds(
                    () -> {
                      looks.incrementAndGet();
                      throw new AssertionError("two inside");
                    },
                    LONG,
                    () -> "state"))
        .hasMessage("two inside");
    assertThat(looks).hasValue(1);
  }

  @Test
  void refusal_neverForThatReason_failsWithStateAndLastRefusal() {
    assertThatThrownBy(
            () ->
                Eventually.refused(
                    () -> {
                      throw refusal("timed out");
                    },
                    "WRONGPASS",
                    SHORT,
                    () -> "n0 is dead"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("n0 is dead")
        .hasStackTraceContaining("timed out");
  }

  @Test
  void attempt_thatSucceeds_endsTheWaitAtOnce() {
    AtomicInteger attempts = new AtomicInteger();
    assertThatThrownBy(
            () ->
                Eventually.refused(
                    () -> Optional.of(attempts.incrementAndGet()),
                    "WRONGPASS",
                    LONG,
                    () -> "state"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("must be refused: WRONGPASS");
    assertThat(attempts).hasValue(1);
  }

  private static QuorumUnavailableException refusal(String reason) {
    NodeVote silent = new NodeVote("n0", Vote.SILENT, Duration.ZERO, reason, null, null, null);
    return new QuorumUnavailableException(
        "lock not acquired",
        new AcquireReport(
            List.of("a"),
            AcquireVerdict.UNAVAILABLE,
            1,
            List.of(silent),
            Duration.ZERO,
            1,
            Duration.ZERO,
            0,
            null));
  }
}
