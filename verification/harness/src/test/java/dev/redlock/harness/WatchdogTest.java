package dev.redlock.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisSource;
import dev.redlock.testkit.internal.ChildProcess;
import dev.redlock.testkit.internal.Watchdog;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In whatever way a JVM ends, its processes end and its files are removed. */
class WatchdogTest {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /**
   * Starts nodes, one of them paused, and another JVM. Prints their process ids, and waits until it
   * is killed.
   */
  static final class Starter {

    public static void main(String[] args) throws Exception {
      RedisNodes nodes = RedisNodes.builder().count(3).appendOnly(true).start();
      ForkedJvm child = ForkedJvm.start(ForkedJvmTest.Echo.class);
      child.nextLine(PATIENCE);
      nodes.get(0).restart(); // the pid from before is no longer ours
      nodes.get(1).pause();
      System.out.println(Watchdog.directory());
      StringBuilder pids = new StringBuilder().append(child.pid());
      for (RedisNode node : nodes) {
        pids.append(' ').append(node.describe().replaceAll(".* pid (\\d+).*", "$1"));
      }
      System.out.println(pids);
      if (args[0].equals("exit")) {
        System.exit(0);
      } else if (args[0].equals("halt")) {
        Runtime.getRuntime().halt(0);
      } else if (args[0].equals("return")) {
        return;
      }
      Thread.sleep(PATIENCE.toMillis());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"return", "exit", "halt", "kill", "pauseAndKill"})
  void jvm_endsInAnyWay_processesAndFilesEndToo(String way) {
    try (ForkedJvm jvm = ForkedJvm.start(Starter.class, way)) {
      Path directory = Path.of(jvm.nextLine(PATIENCE));
      List<Long> pids =
          Arrays.stream(jvm.nextLine(PATIENCE).split(" ", -1)).map(Long::valueOf).toList();
      assertThat(pids).hasSize(4);
      if (way.equals("kill")) {
        assertThat(pids).allMatch(WatchdogTest::runs);
        assertThat(directory).isDirectory();
        jvm.kill();
      } else if (way.equals("pauseAndKill")) {
        jvm.pause();
        jvm.kill();
      }
      jvm.awaitExit(PATIENCE);

      await().atMost(PATIENCE).until(() -> pids.stream().noneMatch(WatchdogTest::runs));
      await().atMost(PATIENCE).until(() -> Files.notExists(directory));
    }
  }

  /** Starts a container and waits to be killed. */
  static final class ContainerStarter {
    public static void main(String[] args) throws InterruptedException {
      RedisNodes nodes = RedisNodes.builder().count(1).source(RedisSource.DOCKER).start();
      System.out.println("port " + nodes.get(0).port());
      Thread.sleep(60_000);
    }
  }

  @Test
  @Tag("thorough")
  void jvm_killed_itsContainersEndOrAreSweptByTheNext() {
    assumeThat(RedisSource.DOCKER.whyUnavailable()).isEmpty();
    try (ForkedJvm jvm = ForkedJvm.start(ContainerStarter.class)) {
      Duration patience = Duration.ofSeconds(60);
      String line = jvm.awaitLine(text -> text.startsWith("port "), patience);
      int port = Integer.parseInt(line.substring(5));
      assertThat(listens(port)).isTrue();

      jvm.kill();

      await()
          .atMost(patience)
          .pollInterval(Duration.ofMillis(500))
          .until(() -> RedisSource.DOCKER.whyUnavailable().isEmpty() && !listens(port));
    }
  }

  private static boolean listens(int port) {
    try (Socket connection = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return connection.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void process_endedBefore_isForgotten() throws IOException {
    ChildProcess child = ChildProcess.start(new ProcessBuilder("/bin/sh", "-c", "exit 7"));
    assertThat(child.awaitExit(PATIENCE)).contains(7);
    ChildProcess other = ChildProcess.start(new ProcessBuilder("/bin/sh", "-c", "read -r x"));
    assertThat(other.isAlive()).isTrue();
    other.kill();
    assertThat(other.isAlive()).isFalse();
  }

  /** A zombie process counts as ended, even if its new parent reaps it late. */
  private static boolean runs(long pid) {
    try {
      String stat =
          Files.readString(Path.of("/proc/" + pid + "/stat"), StandardCharsets.ISO_8859_1);
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException e) {
      return !Files.isDirectory(Path.of("/proc/self")) && ProcessHandle.of(pid).isPresent();
    }
  }
}
