package dev.redlock.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ForkedJvmTest {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Echoes its input. */
  static final class Echo {
    public static void main(String[] args) throws IOException {
      System.out.println("ready");
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        System.out.println(line);
      }
    }
  }

  @Test
  void pauseThenResume_running_isSilentThenContinues() {
    try (ForkedJvm jvm = ForkedJvm.start(Echo.class)) {
      jvm.nextLine(PATIENCE);
      jvm.pause();
      jvm.send("hello");
      assertThat(jvm.isPaused()).isTrue();
      assertThatThrownBy(() -> jvm.nextLine(Duration.ofMillis(200))).hasMessageContaining("paused");
      jvm.resume();
      assertThat(jvm.nextLine(PATIENCE)).isEqualTo("hello");
    }
  }
}
