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
          0);

  @Test
  void report_ofAnExceptionThatWasSerialized_isTheSame() throws Exception {
    assertThat(copy(new LockTimeoutException(REPORT)).report()).isEqualTo(REPORT);
    assertThat(copy(new LockQueueFullException(REPORT)).report()).isEqualTo(REPORT);
    assertThat(copy(new QuorumUnavailableException("not acquired", REPORT)).report())
        .isEqualTo(REPORT);
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
