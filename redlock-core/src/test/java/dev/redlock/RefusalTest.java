package dev.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RefusalTest {
  private static final AcquireReport REPORT =
      new AcquireReport(
          List.of("name"),
          AcquireVerdict.HELD,
          1,
          List.of(
              new AcquireReport.NodeVote(
                  "host:6379",
                  AcquireReport.Vote.HELD,
                  Duration.ofMillis(3),
                  null,
                  "a1b2",
                  Duration.ofMillis(9),
                  null)),
          Duration.ofSeconds(1),
          2,
          Duration.ZERO,
          0,
          null);

  @Test
  void report_ofAnExceptionThatWasSerialized_isTheSame() throws Exception {
    assertThat(copy(new LockTimeoutException(REPORT)).report()).isEqualTo(REPORT);
    assertThat(copy(new LockQueueFullException(REPORT)).report()).isEqualTo(REPORT);
    assertThat(copy(new QuorumUnavailableException("not acquired", REPORT)).report())
        .isEqualTo(REPORT);
  }

  @Test
  void causeOfSeveralNodes_isSaidOnce_andTimesHaveThreeDigits() {
    AcquireReport report =
        new AcquireReport(
            List.of("name"),
            AcquireVerdict.UNAVAILABLE,
            2,
            List.of(silent("n1", 137_497), silent("n2", 137_811), silent("n3", 0)),
            Duration.ofMillis(1_234),
            1,
            Duration.ZERO,
            0,
            null);
    assertThat(report.sentence())
        .endsWith("(name; waited 1.23 s, 1 round): n1, n2, n3 SILENT (DISCONNECTED: refused)");
    assertThat(report.votes().get(0)).hasToString("n1 SILENT (DISCONNECTED: refused) in 137 ms");
  }

  private static AcquireReport.NodeVote silent(String node, long micros) {
    return new AcquireReport.NodeVote(
        node,
        AcquireReport.Vote.SILENT,
        Duration.ofNanos(micros * 1_000),
        "DISCONNECTED: refused",
        null,
        null,
        null);
  }

  @SuppressWarnings("unchecked")
  private static <T> T copy(T original) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(original);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (T) in.readObject();
    }
  }
}
