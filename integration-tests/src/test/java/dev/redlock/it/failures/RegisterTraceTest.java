package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RegisterTraceTest {
  private static List<String> lines(String... history) {
    return RegisterTrace.lines(
        Stream.of(history).map(Event::parse).map(Optional::orElseThrow).toList());
  }

  @Test
  void lease_thatIsExtendedAndReleased_isValidAtBothTimes() {
    assertThat(
            lines(
                "100 w1 acquired lease=w1-1 names=x token=64 asked=90 until=500",
                "300 w1 extended lease=w1-1 asked=200 until=700",
                "400 w1 extended lease=w1-1 asked=0 until=800",
                "600 w1 releasing lease=w1-1 valid=true seen=599"))
        .containsExactly(
            "trace Register x",
            "90 ask l=1 lease=w1-1",
            "100 got l=1 lease=w1-1 t=64",
            "200 valid l=1 lease=w1-1",
            "400 valid l=1 lease=w1-1",
            "600 valid l=1 lease=w1-1");
  }

  @Test
  void lease_whoseHolderWasPausedUntilItsEnd_isNeverCertainlyValid() {
    assertThat(lines("900 w1 acquired lease=w1-1 names=x token=64 asked=90 until=900"))
        .containsExactly(
            "trace Register x", "90 ask l=1 lease=w1-1", "900 got l=1 lease=w1-1 t=64");
  }

  @Test
  void leaseOfSeveralNames_isInTheTraceOfEach_andTheEndComesBeforeTheNextGrant() {
    assertThat(
            lines(
                "100 w1 acquired lease=w1-1 names=x,y token=64 asked=90 until=500",
                "200 w1 releasing lease=w1-1 valid=true seen=199",
                "200 w2 acquired lease=w2-1 names=x token=128 asked=95 until=600"))
        .containsExactly(
            "trace Register x",
            "90 ask l=1 lease=w1-1",
            "95 ask l=2 lease=w2-1",
            "100 got l=1 lease=w1-1 t=64",
            "200 valid l=1 lease=w1-1",
            "200 got l=2 lease=w2-1 t=128",
            "600 valid l=2 lease=w2-1",
            "trace Register y",
            "90 ask l=1 lease=w1-1",
            "100 got l=1 lease=w1-1 t=64",
            "200 valid l=1 lease=w1-1");
  }
}
