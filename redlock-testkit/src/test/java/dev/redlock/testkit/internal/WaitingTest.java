package dev.redlock.testkit.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WaitingTest {

  @Test
  void condition_thatThrowsForAMoment_isWaitedFor() {
    AtomicInteger looks = new AtomicInteger();
    Waiting.until(
        "served",
        Duration.ofSeconds(20),
        () -> {
          if (looks.incrementAndGet() < 3) {
            throw new IllegalStateException("no master serves slot 1");
          }
          return true;
        });
    assertThat(looks).hasValue(3);
  }

  @Test
  void condition_thatThrowsToTheEnd_failsWithTheStateThenAndTheLastFailure() {
    AtomicInteger looks = new AtomicInteger();
    assertThatThrownBy(
            () ->
                Waiting.until(
                    () -> "served, after " + looks + " looks",
                    Duration.ofMillis(5),
                    () -> {
                      throw new IllegalStateException("look " + looks.incrementAndGet());
                    }))
        .hasMessageContaining("served, after " + looks + " looks")
        .hasRootCauseMessage("look " + looks);
  }

  @Test
  void condition_thatThrowsToTheEnd_isNotReached() {
    assertThat(
            Waiting.reached(
                Duration.ofMillis(1),
                () -> {
                  throw new IllegalStateException();
                }))
        .isFalse();
  }

  /** A machine that stops for longer than the patience gives nobody a chance to act. */
  @Test
  void condition_thatBeginsToHoldAsTheTimeHasPassed_isSeen() {
    AtomicInteger looks = new AtomicInteger();
    assertThat(Waiting.reached(Duration.ZERO, () -> looks.incrementAndGet() == 10)).isTrue();
  }
}
