package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ValidityTest {
  private static final long MILLI = 1_000_000;
  private final Validity validity = new Validity(7 * MILLI, 5000, 100 * MILLI, 10 * MILLI);

  @Test
  void remaining_fallsWithTheMonotonicClock_toZero() {
    assertThat(validity.remaining(7 * MILLI, 5000)).isEqualTo(90 * MILLI);
    assertThat(validity.remaining(27 * MILLI, 5000)).isEqualTo(70 * MILLI);
    assertThat(validity.remaining(500 * MILLI, 5000)).isZero();
    assertThat(validity.deadlineNanos()).isEqualTo(97 * MILLI);
  }

  @Test
  void remaining_afterASuspend_fallsWithTheWallClock_lessOneMillisecondOfRounding() {
    assertThat(validity.remaining(7 * MILLI, 5031)).isEqualTo(60 * MILLI);
    assertThat(validity.elapsed(7 * MILLI, 5031)).isEqualTo(30 * MILLI);
  }

  @Test
  void remaining_overTheEndOfTheClock_isADifference() {
    Validity late = new Validity(Long.MAX_VALUE - MILLI, 5000, 100 * MILLI, 10 * MILLI);
    assertThat(late.remaining(Long.MIN_VALUE + MILLI - 1, 5000)).isEqualTo(88 * MILLI);
  }
}
