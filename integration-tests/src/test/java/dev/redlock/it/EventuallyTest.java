package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EventuallyTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(50);

  @Test
  void condition_thatThrowsForAMoment_isWaitedFor() {
    AtomicInteger looks = new AtomicInteger();
    Eventually.holds(
        () -> {
          if (looks.incrementAndGet() < 5) {
            throw new IllegalStateException("no master serves slot 6083");
          }
          return true;
        },
        LONG,
        () -> "state");
    assertThat(looks).hasValue(5);
  }

  @Test
  void condition_thatThrowsToTheEnd_failsWithStateAndLastException() {
    assertThatThrownBy(
            () ->
                Eventually.holds(
                    () -> {
                      throw new IllegalStateException("no master serves it");
                    },
                    SHORT,
                    () -> "n0 is dead"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("n0 is dead")
        .hasStackTraceContaining("IllegalStateException: no master serves it");
  }

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
}
