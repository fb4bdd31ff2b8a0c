package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private static final Duration SHORTEST = Duration.ofMillis(20);
  private static final Duration LONGEST = Duration.ofMillis(500);

  @Test
  void pauses_growToTheLongest_andBeginAnewAfterAConnectionThatLasted() {
    Backoff backoff = new Backoff(SHORTEST, LONGEST, () -> 1);
    assertThat(millis(backoff)).isEqualTo(40);
    assertThat(millis(backoff)).isEqualTo(80);
    assertThat(millis(backoff)).isEqualTo(160);
    assertThat(millis(backoff)).isEqualTo(320);
    assertThat(millis(backoff)).isEqualTo(500);
    assertThat(millis(backoff)).isEqualTo(500);
    backoff.usableFor(LONGEST.toNanos() + 1);
    assertThat(millis(backoff)).isEqualTo(40);
  }

  @Test
  void pauses_areNeverShorterThanTheShortest() {
    Backoff backoff = new Backoff(SHORTEST, LONGEST, () -> 0);
    for (int i = 0; i < 10; i++) {
      assertThat(millis(backoff)).isEqualTo(20);
    }
  }

  @Test
  void pauses_ofAServerThatAcceptsAndDrops_growLikeThoseOfOneThatDoesNotAccept() {
    Backoff backoff = new Backoff(SHORTEST, LONGEST, () -> 1);
    for (long expected : new long[] {40, 80, 160, 320, 500, 500}) {
      backoff.usableFor(LONGEST.toNanos());
      assertThat(millis(backoff)).isEqualTo(expected);
    }
  }

  private static long millis(Backoff backoff) {
    return TimeUnit.NANOSECONDS.toMillis(backoff.nextNanos());
  }
}
