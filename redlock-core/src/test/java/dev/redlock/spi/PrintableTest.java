package dev.redlock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.FencingToken;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockTimeoutException;
import dev.redlock.Vote;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

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
    NodeVote vote = new NodeVote("node", Vote.SILENT, Duration.ZERO, FORGED, null, null);
    AcquireReport report =
        new AcquireReport(
            List.of(FORGED),
            AcquireReport.Verdict.HELD,
            1,
            List.of(vote),
            Duration.ZERO,
            1,
            Duration.ZERO);
    assertThat(vote.toString()).contains(SHOWN);
    assertThat(new LockTimeoutException(report).getMessage()).contains(SHOWN).doesNotContain("\n");
    assertThat(new NodeStatus(NodeStatus.State.CONNECTING, 1, 0, 0, FORGED).cause())
        .isEqualTo(SHOWN);
  }
}
