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
    reconnectDelay.usableFor(LONGEST.toNanos() + 1);
    assertThat(millis(reconnectDelay)).isEqualTo(40);
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
      reconnectDelay.usableFor(LONGEST.toNanos());
      assertThat(millis(reconnectDelay)).isEqualTo(expected);
    }
  }

  private static long millis(ReconnectDelay reconnectDelay) {
    return TimeUnit.NANOSECONDS.toMillis(reconnectDelay.nextNanos());
  }
}
