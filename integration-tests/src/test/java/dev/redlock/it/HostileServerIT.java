package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.lettuce.LettuceLockNode;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One of three nodes sends replies that no Redis sends, over a real connection. The others must not
 * suffer, every call must end, and the node must vote again once it replies like a Redis.
 */
@RedisTest(nodes = 2)
@Tag("thorough")
class HostileServerIT {
  private static final String NOW = "1700000000000000";

  private static final List<String> ANSWERS =
      List.of(
          "*0\r\n",
          "*-1\r\n",
          "*1\r\n:1\r\n",
          "*2\r\n:1\r\n:" + NOW + "\r\n",
          "*3\r\n:1\r\n:" + NOW + "\r\n:-5\r\n",
          "*3\r\n:10\r\n:" + NOW + "\r\n:-5\r\n",
          "*3\r\n:10\r\n:" + NOW + "\r\n:9999999\r\n",
          "*3\r\n:1\r\n:-1\r\n:5\r\n",
          "*3\r\n:1\r\n:9223372036854775807\r\n:9223372036854775807\r\n",
          "*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n",
          "*3\r\n*3\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n",
          "*3\r\n_\r\n_\r\n_\r\n",
          "*3\r\n-ERR inside\r\n:1\r\n:2\r\n",
          "*6\r\n:2\r\n:" + NOW + "\r\n:1\r\n:-7\r\n:-9\r\n$3\r\n\r\n\t\r\n",
          "*7\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n$1\r\nx\r\n:7\r\n",
          "*65\r\n:1\r\n",
          "*100000\r\n:1\r\n",
          "*2000000000\r\n",
          "*2147483648\r\n",
          ":1\r\n",
          ":8\r\n",
          ":" + NOW + "\r\n",
          ":99999999999999999999\r\n",
          "+OK\r\n",
          "$-1\r\n",
          "$3\r\nabc\r\n",
          "_\r\n",
          "#t\r\n",
          ",1.5\r\n",
          "(123456789012345678901234567890\r\n",
          "%1\r\n+a\r\n:1\r\n",
          "~3\r\n:1\r\n:2\r\n:3\r\n",
          "=7\r\ntxt:abc\r\n",
          "!9\r\nERR hello\r\n",
          "-\r\n",
          "-ERR \u0007\u001b[31m\r\n",
          "-ERR " + "x".repeat(100_000) + "\r\n",
          "-NOSCRIPT again and again\r\n",
          "-MOVED 1 127.0.0.1:1\r\n",
          ">2\r\n$10\r\ninvalidate\r\n:1\r\n*0\r\n",
          ">1\r\n$10\r\ninvalidate\r\n*0\r\n",
          ">0\r\n*0\r\n",
          "+a\r\n+b\r\n+c\r\n",
          "garbage\r\n",
          "\r\n",
          "\u0000\u0000\r\n",
          "*3\r\n:x\r\n:y\r\n:z\r\n",
          "*x\r\n",
          "*3\r\n:1\r\n",
          "$2147483647\r\nabc",
          "",
          FakeServer.HANG_UP);

  private final RedisNodes nodes;
  private FakeServer fake;

  HostileServerIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @BeforeEach
  void start() throws IOException {
    fake = new FakeServer();
  }

  @AfterEach
  void stop() {
    fake.close();
  }

  private Redlock client() {
    return Clients.on(nodes)
        .nodes(LettuceLockNode.create(fake.uri()))
        .nodeTimeout(Duration.ofMillis(200))
        .build();
  }

  private static NodeState.State state(Redlock redlock) {
    return redlock.operations().nodes().get(redlock.operations().nodes().size() - 1).state();
  }

  private static void assertWorks(Redlock redlock, String answer) {
    for (int i = 0; i < 5; i++) {
      long began = System.nanoTime();
      try (Lease lease = redlock.lock("real" + i).acquire(Duration.ofSeconds(3))) {
        lease.ensureValid();
      }
      assertThat(System.nanoTime() - began).as("after %s", answer).isLessThan(2_000_000_000L);
    }
  }

  @Test
  void requestsAnsweredWithNonsense_otherNodesServe_andTheNodeComesBack() {
    List<String> bad = new ArrayList<>();
    try (Redlock redlock = Clients.voting(client(), 3)) {
      for (String answer : ANSWERS) {
        try {
          fake.answer(
              command ->
                  command.get(0).startsWith("EVAL") && !FakeServer.isMarker(command)
                      ? answer
                      : null);
          assertWorks(redlock, answer);
          fake.answer(command -> null);
          Eventually.holds(
              () -> state(redlock) == NodeState.State.VOTING && Clients.owesNothing(redlock),
              Duration.ofSeconds(12),
              () -> redlock.operations().nodes().toString());
        } catch (RuntimeException | AssertionError e) {
          bad.add(answer.substring(0, Math.min(40, answer.length())) + " -> " + e);
        }
      }
    }
    assertThat(bad).isEmpty();
  }

  @Test
  void onlyNodeAnswersWithNonsense_everyCallEnds() {
    List<String> bad = new ArrayList<>();
    try (Redlock redlock =
        Redlock.builder()
            .restartGuard(RestartGuard.OFF)
            .nodes(fake.uri())
            .nodeTimeout(Duration.ofMillis(200))
            .build()) {
      for (String answer : ANSWERS) {
        fake.answer(
            command ->
                command.get(0).startsWith("EVAL") && !FakeServer.isMarker(command) ? answer : null);
        for (int i = 0; i < 3; i++) {
          long began = System.nanoTime();
          try {
            redlock
                .lock("only" + i)
                .tryAcquire()
                .ifPresent(lease -> bad.add("granted by " + answer));
          } catch (QuorumUnavailableException e) {
            // Expected.
          } catch (RuntimeException e) {
            bad.add(answer + " -> " + e);
          }
          if (System.nanoTime() - began > 2_000_000_000L) {
            bad.add("slow: " + answer);
          }
        }
      }
    }
    assertThat(bad).isEmpty();
  }

  /** The commands of a new connection, one kind after another. */
  @Test
  void probeAnsweredWithNonsense_otherNodesServe_andTheNodeComesBack() {
    List<String> bad = new ArrayList<>();
    for (String asked : List.of("HELLO", "CLIENT", "SCRIPT", "INFO", "marker")) {
      try (Redlock redlock = Clients.voting(client(), 2)) {
        for (String answer : ANSWERS) {
          try {
            int before = fake.connections();
            fake.answer(
                command ->
                    FakeServer.isFor(command, asked)
                        ? answer
                        : command.get(0).startsWith("EVALSHA") ? FakeServer.HANG_UP : null);
            assertWorks(redlock, answer);
            Eventually.holds(
                () -> {
                  // The node may have been asked nothing so far, or by the text of a script.
                  redlock.lock("again").tryAcquire().ifPresent(Lease::close);
                  return fake.connections() > before;
                },
                Duration.ofSeconds(12),
                () -> asked);
            fake.answer(command -> null);
            Eventually.holds(
                () -> state(redlock) == NodeState.State.VOTING,
                Duration.ofSeconds(14),
                () -> redlock.operations().nodes().toString());
          } catch (RuntimeException | AssertionError e) {
            bad.add(asked + ": " + answer.substring(0, Math.min(40, answer.length())) + " -> " + e);
          }
        }
      }
    }
    assertThat(bad).isEmpty();
  }
}
