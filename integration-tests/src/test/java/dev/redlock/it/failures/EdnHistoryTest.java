package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class EdnHistoryTest {
  private static List<String> lines(String... history) {
    return EdnHistory.lines(
        Stream.of(history).map(Event::parse).map(Optional::orElseThrow).toList());
  }

  @Test
  void lease_thatIsExtendedAndReleased_isAcquiredAndEndsWhenItWasLastValid() {
    assertThat(
            lines(
                "100 w1 acquired lease=w1-1 names=x token=64 asked=90 until=500",
                "300 w1 extended lease=w1-1 asked=200 until=700",
                "600 w1 releasing lease=w1-1 valid=true seen=599"))
        .containsExactly(
            "{:index 0, :time 90, :process 0, :type :invoke, :f :acquire,"
                + " :value [\"x\" {:lease \"w1-1\", :token 64}]}",
            "{:index 1, :time 100, :process 0, :type :ok, :f :acquire,"
                + " :value [\"x\" {:lease \"w1-1\", :token 64}]}",
            "{:index 2, :time 600, :process 1, :type :invoke, :f :end,"
                + " :value [\"x\" {:lease \"w1-1\", :token 64}]}");
  }

  @Test
  void leaseOfSeveralNames_isInTheRegisterOfEach_andEndsBeforeTheNextOneBegins() {
    assertThat(
            lines(
                "100 w1 acquired lease=w1-1 names=x,y token=64 asked=90 until=500",
                "200 w1 releasing lease=w1-1 valid=true seen=199",
                "250 w2 acquired lease=w2-1 names=x token=128 asked=200 until=600"))
        .extracting(
            line -> line.replaceAll(".*:time (\\d+), .*:f :(\\w+), .*\"(\\w)\".*", "$1 $2 $3"))
        .containsExactly(
            "90 acquire x",
            "90 acquire y",
            "100 acquire x",
            "100 acquire y",
            "200 end x",
            "200 end y",
            "200 acquire x",
            "250 acquire x",
            "600 end x");
  }
}
