package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SleepTest {
  private final Sleep sleep = new Sleep();

  @Test
  void sleep_thatNeverBegan_isOver() {
    assertThat(sleep.isOn()).isFalse();
    assertThat(sleep.isOver(0)).isTrue();
    assertThat(sleep.end()).isNull();
    assertThat(sleep.wakeBy(0)).isFalse();
    NextWake wake = new NextWake(0);
    sleep.deadlines(wake);
    assertThat(wake.delayNanos()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void sleep_isOverAtItsEnd_andSaysItsCauseOnce() {
    sleep.until(100, WakeUp.PAUSE, false);
    NextWake wake = new NextWake(40);
    sleep.deadlines(wake);
    assertThat(wake.delayNanos()).isEqualTo(60);
    assertThat(sleep.isOver(99)).isFalse();
    assertThat(sleep.isOver(100)).isTrue();
    assertThat(sleep.end()).isEqualTo(WakeUp.PAUSE);
    assertThat(sleep.end()).isNull();
  }

  @Test
  void hint_endsASleepEarlier_neverLater() {
    sleep.until(100, WakeUp.PAUSE, true);
    assertThat(sleep.wakeBy(100)).isFalse();
    assertThat(sleep.cause()).isEqualTo(WakeUp.PAUSE);
    assertThat(sleep.wakeBy(50)).isTrue();
    assertThat(sleep.cause()).isEqualTo(WakeUp.HINT);
    assertThat(sleep.isOver(49)).isFalse();
    assertThat(sleep.isOver(50)).isTrue();
  }

  @Test
  void sleep_thatIgnoresHints_isNotEndedByOne() {
    sleep.until(100, WakeUp.PAUSE, true);
    assertThat(sleep.heedsHints()).isTrue();
    sleep.ignoreHints();
    assertThat(sleep.heedsHints()).isFalse();
    assertThat(sleep.wakeBy(50)).isFalse();
    assertThat(sleep.isOver(99)).isFalse();
  }
}
