package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.redis.internal.Silence;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LivenessWatchTest {
  private static final long MILLI = 1_000_000;

  private final Clock clock = new Clock();

  private LivenessWatch watch(boolean markers) {
    return new LivenessWatch(null, null, clock, markers);
  }

  @Test
  void marker_isUnread_oneAndAHalfSecondsAfterTheLastProbeThatWasAnswered() {
    LivenessWatch watch = watch(true);
    clock.nanos = 5_000 * MILLI;
    watch.onProbed(clock.nanos, 4_000 * MILLI);
    clock.nanos = 5_500 * MILLI;
    assertThat(watch.isUnread()).isFalse();
    clock.nanos++;
    assertThat(watch.isUnread()).isTrue();
    watch.onProbedAgain(5_400 * MILLI);
    assertThat(watch.isUnread()).isFalse();
    clock.nanos = 6_901 * MILLI;
    assertThat(watch.isUnread()).isTrue();
  }

  @Test
  void serverWithoutMarker_hasNothingUnread() {
    LivenessWatch watch = watch(false);
    clock.nanos = Duration.ofHours(1).toNanos();
    assertThat(watch.isUnread()).isFalse();
  }

  /** A lease of the former record ends before the operator goes on. */
  @Test
  void guardTime_isLongerThanALease_andTheTimeForWhichAMarkerMayBeUnread() {
    Duration lease = Duration.ofMinutes(1);
    assertThat(RestartGuard.guardTime(lease)).isGreaterThan(lease.plusMillis(1_500));
  }

  /** What came in the pause is not read yet: that is no silence of the server. */
  @Test
  void aPauseOfThisProcess_isNotCountedAsSilence() {
    LivenessWatch watch = watch(true);
    assertThat(silenceAfter(watch, 500)).isEqualTo(500 * MILLI);
    assertThat(silenceAfter(watch, 30_000)).isEqualTo(1_500 * MILLI);
    assertThat(silenceAfter(watch, 500)).isEqualTo(2_000 * MILLI);
    watch.start();
    clock.nanos += 500 * MILLI;
    assertThat(watch.silence(clock.nanos - MILLI)).isEqualTo(MILLI);
  }

  /** A machine under load, where each check is late: a dead server is given up all the same. */
  @Test
  void checksThatAreAllLate_giveADeadServerUp() {
    LivenessWatch watch = watch(true);
    long silent = 0;
    for (int i = 0; i < 6; i++) {
      silent = silenceAfter(watch, 3_000);
    }
    assertThat(Silence.judge(silent, true)).isEqualTo(Silence.GIVE_UP);
  }

  private long silenceAfter(LivenessWatch watch, long millis) {
    watch.start();
    clock.nanos += millis * MILLI;
    return watch.silence(0);
  }

  private static final class Clock implements Time {
    private long nanos;

    @Override
    public long nanos() {
      return nanos;
    }

    @Override
    public long wallMillis() {
      return nanos / MILLI;
    }

    @Override
    public Cancellable schedule(Runnable task, long delayNanos) {
      return () -> {};
    }
  }
}
