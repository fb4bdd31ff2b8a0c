package dev.redlock.internal.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.AcquireVerdict;
import dev.redlock.FencingToken;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockTimeoutException;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrintableTest {
  private static final String FORGED = "a\r\n12:00 ERROR all is lost \u001b[2J\u0085\u2028\u202e";
  private static final String SHOWN =
      "a\\u000d\\u000a12:00 ERROR all is lost \\u001b[2J\\u0085\\u2028\\u202e";

  @Test
  void text_withoutControlCharacters_staysAsItIs() {
    String name = "größe\\n 好 \ud83d\ude00";
    assertThat(Printable.of(name)).isSameAs(name);
  }

  @Test
  void controlCharacters_areEscaped() {
    assertThat(Printable.of(FORGED)).isEqualTo(SHOWN);
  }

  @ParameterizedTest
  @CsvSource({
    "PT0S, 0 s",
    "PT0.5S, 500 ms",
    "PT0.000000001S, 0.000001 ms",
    "PT-0.000000001S, -0.000001 ms",
    "PT0.999999999S, 999.999999 ms",
    "PT1S, 1 s",
    "PT9.999999999S, 9.999999999 s",
    "PT-1.5S, -1.5 s",
    "PT1M, 1 min",
    "PT1M39.5S, 1 min 39.5 s",
    "PT1H0.000000001S, 1 h 0.000000001 s",
    "PT24H, 24 h",
    "PT2562047788015215H30M7.999999999S, 2562047788015215 h 30 min 7.999999999 s",
    "PT-2562047788015215H-30M-8S, -2562047788015215 h -30 min -8 s",
  })
  void time_isWrittenWithUnits_exactly(Duration time, String shown) {
    assertThat(Printable.of(time)).isEqualTo(shown);
  }

  @Test
  void names_inLogsAndMessages_haveNoControlCharacters() {
    LockKeys keys = LockKeys.of("redlock", List.of(FORGED));
    assertThat(keys).hasToString("[" + SHOWN + "]");
    assertThat(keys.names()).as("the name itself").containsExactly(FORGED);
    assertThat(new LeaseLostException(keys.names(), new FencingToken(1), LeaseEnd.LOST))
        .hasMessageContaining(SHOWN);
  }

  @Test
  void serverTexts_inErrorsAndReports_haveNoControlCharacters() {
    NodeError error = new NodeError(NodeError.Kind.UNEXPECTED, FORGED);
    assertThat(error.message()).isEqualTo(SHOWN);
    NodeVote vote = new NodeVote("node", Vote.SILENT, Duration.ZERO, FORGED, null, null, null);
    AcquireReport report =
        new AcquireReport(
            List.of(FORGED),
            AcquireVerdict.HELD,
            1,
            List.of(vote),
            Duration.ZERO,
            1,
            Duration.ZERO,
            0,
            null);
    assertThat(vote.toString()).contains(SHOWN);
    assertThat(new LockTimeoutException(report).getMessage()).contains(SHOWN).doesNotContain("\n");
    assertThat(new NodeStatus(NodeStatus.State.CONNECTING, 1, 0, 0, FORGED).cause())
        .isEqualTo(SHOWN);
  }
}
