package dev.redlock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.RestartGuard;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A recording of the Flight Recorder shows waits, holds, losses and states of nodes. */
class FlightRecorderListenerTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  @Test
  void recording_ofAHoldALossAndATimeout_hasTheirEvents(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("redlock.jfr");
    try (Recording recording = new Recording()) {
      for (String event : List.of("Wait", "Hold", "Lost", "NodeState")) {
        recording.enable("dev.redlock." + event);
      }
      recording.start();
      run();
      await().atMost(WAIT).untilAsserted(() -> assertComplete(dumped(recording, file)));
    }
  }

  private static List<RecordedEvent> dumped(Recording recording, Path file) throws IOException {
    recording.dump(file);
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().startsWith("dev.redlock."))
        .toList();
  }

  private static void assertComplete(List<RecordedEvent> events) {
    assertThat(values(events, "Wait", "outcome")).contains("ACQUIRED", "HELD_LOCALLY");
    assertThat(values(events, "Hold", "end")).contains("RELEASED", "LOST");
    assertThat(values(events, "Lost", "cause")).containsExactly("LOST");
    assertThat(values(events, "NodeState", "state")).contains("VOTING");
    assertThat(events)
        .filteredOn(event -> event.getEventType().getName().equals("dev.redlock.Hold"))
        .allSatisfy(event -> assertThat(event.getString("names")).isEqualTo("recorded"))
        .allSatisfy(event -> assertThat(event.getDuration("held")).isPositive())
        .allSatisfy(event -> assertThat(event.getLong("token")).isPositive());
  }

  private static void run() {
    InMemoryLockNode node = InMemoryLockNode.create("a");
    try (Redlock client =
        Redlock.builder()
            .nodes(node)
            .listener(new FlightRecorderListener())
            .restartGuard(RestartGuard.OFF)
            .nodeTimeout(Duration.ofSeconds(1))
            .build()) {
      assertThat(client.awaitReady(WAIT)).isTrue();
      DistributedLock lock = client.lock("recorded");
      try (Lease lease = lock.acquire(WAIT)) {
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(lease.isValid()).isTrue();
      }
      Lease lost = lock.acquire(WAIT);
      client.operations().breakLock("recorded").toCompletableFuture().join();
      lost.whenEnded().toCompletableFuture().join();
    }
  }

  private static Set<String> values(List<RecordedEvent> events, String type, String field) {
    return events.stream()
        .filter(event -> event.getEventType().getName().equals("dev.redlock." + type))
        .map(event -> event.getString(field))
        .collect(Collectors.toSet());
  }
}
