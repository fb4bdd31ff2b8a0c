package dev.redlock.redis.internal;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SilenceTest {
  @Test
  void judge_withoutRequest_pingsAfterTwoSeconds() {
    assertThat(Silence.judge(SECONDS.toNanos(2), false)).isEqualTo(Silence.WAIT);
    assertThat(Silence.judge(SECONDS.toNanos(2) + 1, false)).isEqualTo(Silence.PING);
    assertThat(Silence.judge(SECONDS.toNanos(60), false)).isEqualTo(Silence.PING);
  }

  @Test
  void judge_withRequest_givesUpAfterFiveSeconds() {
    assertThat(Silence.judge(SECONDS.toNanos(5), true)).isEqualTo(Silence.WAIT);
    assertThat(Silence.judge(SECONDS.toNanos(5) + 1, true)).isEqualTo(Silence.GIVE_UP);
  }
}
