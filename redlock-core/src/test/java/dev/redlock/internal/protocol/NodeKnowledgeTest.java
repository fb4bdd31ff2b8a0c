package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NodeKnowledgeTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long NODE_MICROS = 1_760_000_000_000_000L;

  private NodeKnowledge known = NodeKnowledge.NONE;

  @Test
  void clock_slowAnswerThatAgrees_isIgnored() {
    known = known.observed(0, 1_000_000, NODE_MICROS);
    known = known.observed(SECOND, 15 * SECOND, NODE_MICROS + 14_000_000);
    assertThat(known.estimateMicros(15 * SECOND) - NODE_MICROS).isBetween(14_999_000L, 15_001_000L);
  }

  /**
   * Executed at the very end of the fourteen seconds, 100 ms later than the clock can have been.
   */
  @Test
  void clock_slowAnswerThatDisagrees_movesItAsLittleAsItMust() {
    known = known.observed(0, 1_000_000, NODE_MICROS);
    known = known.observed(SECOND, 15 * SECOND, NODE_MICROS + 15_100_000);
    assertThat(known.estimateMicros(15 * SECOND) - NODE_MICROS).isBetween(15_090_000L, 15_110_000L);
  }

  @Test
  void clock_fastAnswerThatDisagrees_isBelieved() {
    known = known.observed(0, 1_000_000, NODE_MICROS);
    known = known.observed(SECOND, SECOND + 2_000_000, NODE_MICROS + 60_000_000);
    assertThat(known.estimateMicros(SECOND) - NODE_MICROS).isBetween(59_995_000L, 60_005_000L);
  }

  @Test
  void clock_fastAnswerAfterASlowOne_isBelieved() {
    known = known.observed(0, 14 * SECOND, NODE_MICROS);
    known = known.observed(15 * SECOND, 15 * SECOND + 1_000_000, NODE_MICROS + 15_000_000);
    assertThat(known.estimateMicros(15 * SECOND) - NODE_MICROS).isBetween(14_999_000L, 15_001_000L);
  }

  @Test
  void latency_fallsFastAndRisesSlowly() {
    assertThat(known.latencyNanos()).isEqualTo(1_000_000);
    known = known.observed(0, 9_000_000, 0);
    assertThat(known.latencyNanos()).as("an eighth of eight more").isEqualTo(2_000_000);
    known = known.observed(0, 0, 0);
    assertThat(known.latencyNanos()).as("a quarter less").isEqualTo(1_500_000);
    assertThat(known.clockKnown()).as("no reply told the time").isFalse();
  }

  @Test
  void reply_makesANodeThatHangs_wellAgain() {
    known = known.overdue(true);
    assertThat(known.hung()).isTrue();
    assertThat(known.silent()).isTrue();
    known = known.observed(SECOND, SECOND + 1, NODE_MICROS);
    assertThat(known.hung()).isFalse();
    assertThat(known.silent()).isFalse();
    assertThat(known.heardNanos()).isEqualTo(SECOND + 1);
    known = known.overdue(false);
    assertThat(known.hung()).isTrue();
    assertThat(known.silent()).isFalse();
  }

  @Test
  void patience_isThreeTimesTheLatency_andTenMillisecondsAtLeast() {
    assertThat(known.patience()).isEqualTo(10_000_000);
    assertThat(known.turnPatience(false)).isEqualTo(25_000_000);
    assertThat(known.turnPatience(true)).isEqualTo(100_000_000);
    known = known.observed(0, 401_000_000, 0);
    assertThat(known.latencyNanos()).isEqualTo(51_000_000);
    assertThat(known.patience()).isEqualTo(153_000_000);
    assertThat(known.turnPatience(true)).isEqualTo(153_000_000);
  }
}
