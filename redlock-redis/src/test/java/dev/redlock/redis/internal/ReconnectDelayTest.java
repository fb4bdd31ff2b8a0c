package dev.redlock.redis.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReconnectDelayTest {
  @Test
  void pauses_growToTheLongest_andBeginAnewAfterAConnectionThatLasted() {
    ReconnectDelay reconnectDelay = new ReconnectDelay(() -> 1);
    assertThat(millis(reconnectDelay)).isEqualTo(40);
    assertThat(millis(reconnectDelay)).isEqualTo(80);
    assertThat(millis(reconnectDelay)).isEqualTo(160);
    assertThat(millis(reconnectDelay)).isEqualTo(320);
    assertThat(millis(reconnectDelay)).isEqualTo(500);
    assertThat(millis(reconnectDelay)).isEqualTo(500);
    assertThat(millis(reconnectDelay, ReconnectDelay.LONGEST_NANOS + 1, false)).isEqualTo(40);
  }

  @Test
  void pauses_areNeverShorterThanTheShortest() {
    ReconnectDelay reconnectDelay = new ReconnectDelay(() -> 0);
    for (int i = 0; i < 10; i++) {
      assertThat(millis(reconnectDelay)).isEqualTo(20);
    }
  }

  @Test
  void pauses_ofAServerThatAcceptsAndDrops_growLikeThoseOfOneThatDoesNotAccept() {
    ReconnectDelay reconnectDelay = new ReconnectDelay(() -> 1);
    for (long expected : new long[] {40, 80, 160, 320, 500, 500}) {
      assertThat(millis(reconnectDelay, ReconnectDelay.LONGEST_NANOS, false)).isEqualTo(expected);
    }
  }

  @Test
  void reconnect_afterAConnectionThatServedRequests_isAtOnce_andPausesBeginAnew() {
    ReconnectDelay reconnectDelay = new ReconnectDelay(() -> 1);
    for (int i = 0; i < 10; i++) {
      assertThat(millis(reconnectDelay, ReconnectDelay.SHORTEST_NANOS, true)).isZero();
    }
    assertThat(millis(reconnectDelay)).isEqualTo(40);
    assertThat(millis(reconnectDelay)).isEqualTo(80);
    assertThat(millis(reconnectDelay, ReconnectDelay.LONGEST_NANOS, true)).isZero();
    assertThat(millis(reconnectDelay)).isEqualTo(40);
  }

  @Test
  void reconnects_toAServerThatServesOneRequestEach_areAShortestPauseApart() {
    ReconnectDelay reconnectDelay = new ReconnectDelay(() -> 1);
    assertThat(millis(reconnectDelay, ReconnectDelay.SHORTEST_NANOS / 4, true)).isEqualTo(15);
  }

  private static long millis(ReconnectDelay reconnectDelay) {
    return millis(reconnectDelay, 0, false);
  }

  private static long millis(ReconnectDelay reconnectDelay, long usableNanos, boolean served) {
    return TimeUnit.NANOSECONDS.toMillis(reconnectDelay.nextNanos(usableNanos, served));
  }
}
