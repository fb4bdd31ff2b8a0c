package dev.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Options are refused where they are made, with the numbers that do not fit. */
class LockOptionsTest {

  private interface Setting extends UnaryOperator<LockOptions.Builder> {}

  private static Arguments bound(String what, Setting last, Setting beyond, String message) {
    return Arguments.of(Named.of(what, last), beyond, message);
  }

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  /** A lease time of 10 s and a drift of 102 ms, unless set otherwise. */
  private static LockOptions.Builder tenSeconds() {
    return LockOptions.builder().leaseTime(Duration.ofSeconds(10));
  }

  static Stream<Arguments> bounds() {
    Duration tooShort = Duration.ofNanos(9_999_999);
    Duration justOverAnHour = Duration.ofHours(1).plusNanos(1);
    return Stream.of(
        bound(
            "leaseTime, least",
            o -> o.leaseTime(millis(10)).nodeTimeout(millis(1)),
            o -> o.leaseTime(tooShort).nodeTimeout(millis(1)),
            "leaseTime 9.999999 ms must lie between 10 ms and 1 h"),
        bound(
            "leaseTime, most",
            o -> o.leaseTime(Duration.ofHours(1)).holdCap(Duration.ofHours(2)),
            o -> o.leaseTime(justOverAnHour).holdCap(Duration.ofHours(2)),
            "leaseTime 1 h 0.000000001 s must lie between 10 ms and 1 h"),
        bound(
            "drift, least",
            o -> o.drift(Duration.ZERO),
            o -> o.drift(Duration.ofNanos(-1)),
            "drift -0.000001 ms must not be negative"),
        bound(
            "drift, most",
            o -> o.drift(millis(9_998)).nodeTimeout(millis(1)),
            o -> o.drift(millis(10_000)).nodeTimeout(millis(1)),
            "drift 10 s must be shorter than leaseTime 10 s"),
        bound(
            "nodeTimeout, least",
            o -> o.nodeTimeout(millis(1)),
            o -> o.nodeTimeout(Duration.ofNanos(999_999)),
            "nodeTimeout 0.999999 ms must lie between 1 ms and 1 s"),
        bound(
            "nodeTimeout, most",
            o -> o.nodeTimeout(Duration.ofSeconds(1)),
            o -> o.nodeTimeout(Duration.ofSeconds(1).plusNanos(1)),
            "nodeTimeout 1.000000001 s must lie between 1 ms and 1 s"),
        bound(
            "nodeTimeout, against lease time and drift",
            o -> o.leaseTime(millis(500)).drift(millis(100)).nodeTimeout(millis(399)),
            o -> o.leaseTime(millis(500)).drift(millis(100)).nodeTimeout(millis(400)),
            "nodeTimeout 400 ms must be shorter than leaseTime 500 ms less drift 100 ms"),
        bound(
            "holdCap, least",
            o -> o.holdCap(Duration.ofSeconds(10)),
            o -> o.holdCap(Duration.ofSeconds(10).minusNanos(1)),
            "holdCap 9.999999999 s must not be shorter than leaseTime 10 s"),
        bound(
            "minimumHold, least",
            o -> o.minimumHold(Duration.ZERO),
            o -> o.minimumHold(Duration.ofNanos(-1)),
            "minimumHold -0.000001 ms must not be negative"),
        bound(
            "minimumHold, most",
            o -> o.minimumHold(Duration.ofSeconds(10)),
            o -> o.minimumHold(Duration.ofSeconds(10).plusNanos(1)),
            "minimumHold 10.000000001 s is longer than leaseTime 10 s: raise the lease time"),
        bound(
            "queueBound, least",
            o -> o.queueBound(1),
            o -> o.queueBound(0),
            "queueBound 0 must be at least 1"),
        bound(
            "maxHandOffs, least",
            o -> o.maxHandOffs(0),
            o -> o.maxHandOffs(-1),
            "maxHandOffs -1 must not be negative"),
        bound(
            "pollInterval, least",
            o -> o.pollInterval(millis(10)),
            o -> o.pollInterval(millis(9)),
            "pollInterval 9 ms must lie between 10 ms and 1 min"),
        bound(
            "pollInterval, most",
            o -> o.pollInterval(millis(60_000)),
            o -> o.pollInterval(millis(60_001)),
            "pollInterval 1 min 0.001 s must lie between 10 ms and 1 min"));
  }

  @ParameterizedTest
  @MethodSource("bounds")
  void build_atItsBound_isAccepted_andBeyondItRefusedWithTheNumbers(
      Setting last, Setting beyond, String message) {
    assertThat(last.apply(tenSeconds()).build()).isNotNull();
    LockOptions.Builder wrong = beyond.apply(tenSeconds());
    assertThatExceptionOfType(InvalidOptionException.class)
        .isThrownBy(wrong::build)
        .withMessage(message)
        .matches(e -> message.startsWith(e.option() + " " + e.value() + " "));
  }

  @Test
  void drift_notSet_isOnePercentAndTwoMilliseconds() {
    assertThat(LockOptions.defaults().drift()).isEqualTo(millis(302));
    assertThat(tenSeconds().build().drift()).isEqualTo(millis(102));
  }

  @Test
  void nodeTimeout_notSet_followsAShortLeaseTime_andIsOtherwise250Millis() {
    assertThat(LockOptions.builder().leaseTime(millis(100)).build().nodeTimeout())
        .isEqualTo(Duration.ofNanos(24_250_000));
    assertThat(LockOptions.builder().leaseTime(millis(10)).build().nodeTimeout())
        .isBetween(millis(1), millis(3));
    assertThat(LockOptions.builder().leaseTime(millis(1_013)).build().nodeTimeout())
        .isEqualTo(millis(250));
    assertThat(tenSeconds().drift(millis(9_900)).build().nodeTimeout()).isEqualTo(millis(25));
    assertThat(LockOptions.defaults().nodeTimeout()).isEqualTo(millis(250));
  }

  @Test
  void toBuilder_whatWasNotGiven_followsWhatIsChanged_andWhatWasGiven_stays() {
    LockOptions shorter = LockOptions.defaults().toBuilder().leaseTime(millis(100)).build();
    assertThat(shorter.drift()).isEqualTo(millis(3));
    assertThat(shorter.nodeTimeout()).isLessThan(millis(100));
    LockOptions given = tenSeconds().drift(millis(5)).nodeTimeout(millis(7)).build();
    LockOptions longer = given.toBuilder().leaseTime(millis(20_000)).build();
    assertThat(longer.drift()).isEqualTo(millis(5));
    assertThat(longer.nodeTimeout()).isEqualTo(millis(7));
  }

  @Test
  void toBuilder_ofEveryOptionChanged_makesTheSameAgain() {
    LockOptions odd =
        LockOptions.builder()
            .leaseTime(millis(9_001))
            .drift(millis(77))
            .nodeTimeout(millis(55))
            .autoExtend(false)
            .holdCap(millis(99_001))
            .minimumHold(millis(33))
            .queueBound(7)
            .maxHandOffs(3)
            .fair(true)
            .pollInterval(millis(432))
            .majorityFirst(true)
            .interruptOnLoss(true)
            .build();
    assertThat(odd.toBuilder().build()).hasToString(odd.toString());
    assertThat(odd.toString())
        .contains("9.001 s", "77 ms", "55 ms", "1 min 39.001 s", "33 ms")
        .contains("queueBound=7", "maxHandOffs=3", "432 ms")
        .contains("autoExtend=false", "fair=true", "majorityFirst=true", "interruptOnLoss=true");
  }

  @Test
  void text_inALocaleWithOtherDigits_hasAsciiDigits() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("ar-u-nu-arab"));
    try {
      assertThat(LockOptions.builder().queueBound(7).build().toString()).contains("queueBound=7");
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void holdCap_ofAnElection_isNoneUnlessGiven() {
    Duration given = Duration.ofMinutes(2);
    assertThat(LockOptions.defaults().withoutDefaultHoldCap().holdCap())
        .isGreaterThan(Duration.ofDays(70 * 365));
    assertThat(tenSeconds().holdCap(given).build().withoutDefaultHoldCap().holdCap())
        .isEqualTo(given);
    assertThat(LockOptions.defaults().holdCap()).isEqualTo(Duration.ofHours(1));
  }

  @Test
  void options_withEqualValues_areEqual() {
    LockOptions one = tenSeconds().fair(true).build();
    assertThat(one).isEqualTo(tenSeconds().fair(true).build()).isNotEqualTo(tenSeconds().build());
    assertThat(one).hasSameHashCodeAs(tenSeconds().fair(true).build());
  }

  @Test
  void leaseTime_ofAFractionOfAMillisecond_isCut() {
    LockOptions cut = LockOptions.builder().leaseTime(Duration.ofNanos(10_999_999)).build();
    assertThat(cut.leaseTime()).isEqualTo(millis(10));
  }

  @Test
  void holdCap_none_isNamedSo() {
    LockOptions none = LockOptions.builder().noHoldCap().build();
    assertThat(none.toString()).contains("holdCap=none");
    assertThat(none.withoutDefaultHoldCap()).isSameAs(none);
  }
}
