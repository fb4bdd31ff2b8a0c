package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReconnectDelayTest {
  private static final Duration SHORTEST = Duration.ofMillis(20);
  private static final Duration LONGEST = Duration.ofMillis(500);

  @Test
  void pauses_growToTheLongest_andBeginAnewAfterAConnectionThatLasted() {
    ReconnectDelay reconnectDelay = new ReconnectDelay(SHORTEST, LONGEST, () -> 1);
    assertThat(millis(reconnectDelay)).isEqualTo(40);
    assertThat(millis(reconnectDelay)).isEqualTo(80);
    assertThat(millis(reconnectDelay)).isEqualTo(160);
    assertThat(millis(reconnectDelay)).isEqualTo(320);
    assertThat(millis(reconnectDelay)).isEqualTo(500);
    assertThat(millis(reconnectDelay)).isEqualTo(500);
    assertThat(millis(reconnectDelay, LONGEST.toNanos() + 1, false)).isEqualTo(40);
  }

  @Test
  void pauses_areNeverShorterThanTheShortest() {
    ReconnectDelay reconnectDelay = new ReconnectDelay(SHORTEST, LONGEST, () -> 0);
    for (int i = 0; i < 10; i++) {
      assertThat(millis(reconnectDelay)).isEqualTo(20);
    }
  }

  @Test
  void pauses_ofAServerThatAcceptsAndDrops_growLikeThoseOfOneThatDoesNotAccept() {
    ReconnectDelay reconnectDelay = new ReconnectDelay(SHORTEST, LONGEST, () -> 1);
    for (long expected : new long[] {40, 80, 160, 320, 500, 500}) {
      assertThat(millis(reconnectDelay, LONGEST.toNanos(), false)).isEqualTo(expected);
    }
  }

  @Test
  void reconnect_afterAConnectionThatServedRequests_isAtOnce_andPausesBeginAnew() {
    ReconnectDelay reconnectDelay = new ReconnectDelay(SHORTEST, LONGEST, () -> 1);
    for (int i = 0; i < 10; i++) {
      assertThat(millis(reconnectDelay, SHORTEST.toNanos(), true)).isZero();
    }
    assertThat(millis(reconnectDelay)).isEqualTo(40);
    assertThat(millis(reconnectDelay)).isEqualTo(80);
    assertThat(millis(reconnectDelay, LONGEST.toNanos(), true)).isZero();
    assertThat(millis(reconnectDelay)).isEqualTo(40);
  }

  @Test
  void reconnects_toAServerThatServesOneRequestEach_areAShortestPauseApart() {
    ReconnectDelay reconnectDelay = new ReconnectDelay(SHORTEST, LONGEST, () -> 1);
    assertThat(millis(reconnectDelay, SHORTEST.toNanos() / 4, true)).isEqualTo(15);
  }

  private static long millis(ReconnectDelay reconnectDelay) {
    return millis(reconnectDelay, 0, false);
  }

  private static long millis(ReconnectDelay reconnectDelay, long usableNanos, boolean served) {
    return TimeUnit.NANOSECONDS.toMillis(reconnectDelay.nextNanos(usableNanos, served));
  }
}
