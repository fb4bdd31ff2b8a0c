package dev.redlock.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class ForkedJvmTest {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Echoes its input. */
  static final class Echo {
    public static void main(String[] args) throws IOException {
      System.out.println("ready " + String.join(",", args) + " " + System.getProperty("redlock.x"));
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("exit")) {
          System.err.println("going");
          System.exit(3);
        }
        System.out.println(line);
      }
    }
  }

  @Test
  void send_lines_getRepliesInOrder() {
    try (ForkedJvm jvm =
        ForkedJvm.of(Echo.class).args("a", "b c").property("redlock.x", "y z").start()) {
      assertThat(jvm.nextLine(PATIENCE)).isEqualTo("ready a,b c y z");
      jvm.send("one");
      jvm.send("two");
      jvm.send("three ü");
      assertThat(jvm.nextLine(PATIENCE)).isEqualTo("one");
      assertThat(jvm.awaitLine(line -> line.startsWith("three"), PATIENCE)).isEqualTo("three ü");
    }
  }

  @Test
  void nextLine_afterItsEnd_failsWithStateAndStandardError() {
    try (ForkedJvm jvm = ForkedJvm.of(Echo.class).name("worker 7").start()) {
      jvm.nextLine(PATIENCE);
      jvm.send("exit");
      assertThat(jvm.awaitExit(PATIENCE)).isEqualTo(3);
      await().until(() -> jvm.describe().contains("going"));
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> jvm.nextLine(PATIENCE))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("worker 7 (pid " + jvm.pid() + ", ended) going");
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

  @Test
  void kill_paused_ends() {
    List<String> seen = new CopyOnWriteArrayList<>();
    try (ForkedJvm jvm = ForkedJvm.of(Echo.class).onLine(seen::add).start()) {
      await().atMost(PATIENCE).until(() -> seen.size() == 1);
      jvm.pause();
      jvm.kill();
      assertThat(jvm.isAlive()).isFalse();
      assertThat(jvm.awaitExit(PATIENCE)).isEqualTo(137);
      jvm.kill();
    }
  }
}
