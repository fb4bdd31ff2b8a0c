package dev.redlock.redis.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ColdStartTest {
  private static final Duration USUAL = Duration.ofMillis(500);

  @Test
  void firstConnects_haveMorePatience_untilAServerWasProbed() {
    ColdStart coldStart = new ColdStart();
    assertThat(coldStart.patience(USUAL)).isEqualTo(Duration.ofSeconds(5));
    assertThat(coldStart.patience(USUAL)).isEqualTo(Duration.ofSeconds(5));
    coldStart.end();
    assertThat(coldStart.patience(USUAL)).isEqualTo(USUAL);
  }

  @Test
  void longTimeout_isNotMadeLongerThanFiveSeconds() {
    ColdStart start = new ColdStart();
    assertThat(start.patience(Duration.ofSeconds(2))).isEqualTo(Duration.ofSeconds(5));
    assertThat(start.patience(Duration.ofSeconds(7))).isEqualTo(Duration.ofSeconds(7));
  }
}
