package dev.redlock.cli.look;

import static org.assertj.core.api.Assertions.assertThat;
import static reactor.adapter.JdkFlowAdapter.flowPublisherToFlux;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.cli.run.Wrapper;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.TcpGate;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A look founds no deployment and tells no node anything, whatever list it has (issue 52). */
@Timeout(60)
class LooksIT {
  /** The commands of more than one look. */
  private static final long SEVERAL = 20;

  private Masters masters;

  @BeforeEach
  void start() {
    masters = new Masters(3);
  }

  @AfterEach
  void close() {
    masters.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "doctor",
        "nodes",
        "list",
        "inspect x",
        "inspect x --queue",
        "watch x --until UNKNOWN"
      })
  void look_atEmptyMasters_writesNothing(String command) {
    masters.redlock(masters.uris(0, 1, 2), command.split(" "));
    for (int master = 0; master < 3; master++) {
      assertThat(masters.get(master).keys()).as(masters.name(master)).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"doctor", "nodes", "list", "inspect x", "watch x --until FREE"})
  void look_whileAMemberIsEmpty_tellsItNothing(String command) {
    masters.found(0, 1, 2);
    masters.get(2).restart();
    List<Map<String, String>> before = masters.records(0, 1);

    masters.redlock(masters.uris(0, 1, 2), command.split(" "));
    masters.assertUntold(2);
    assertThat(masters.records(0, 1)).isEqualTo(before);
  }

  /** The page looks again and again. */
  @Test
  void page_ofEmptyMasters_writesNothing(@TempDir Path folder) throws Exception {
    Map<String, String> nodes = Map.of("REDLOCK_NODES", String.join(",", masters.uris(0, 1, 2)));
    try (Wrapper page =
        Wrapper.start(folder, nodes, List.of("serve", "--port", "0", "--restart-guard", "OFF"))) {
      Awaitility.await().atMost(Masters.WAIT).until(() -> page.out().contains("http://"));
      URI address = URI.create(page.out().lines().findFirst().orElseThrow().strip());
      try (InputStream shown = address.toURL().openStream()) {
        assertThat(shown.readAllBytes()).isNotEmpty();
      }
      awaitLooks();
    }
    masters.assertUntold(0, 1, 2);
  }

  @Test
  void watchOfAnObserver_atEmptyMasters_writesNothing() {
    try (Redlock observer = masters.program(masters.uris(0, 1, 2), true)) {
      flowPublisherToFlux(observer.operations().watch("x")).subscribe();
      awaitLooks();
    }
    masters.assertUntold(0, 1, 2);
  }

  private void awaitLooks() {
    for (int i = 0; i < 3; i++) {
      RedisNode master = masters.get(i);
      Awaitility.await().atMost(Masters.WAIT).until(() -> master.commandCount() > SEVERAL);
    }
  }

  @Test
  void doctorOfTheEmptyThirdMaster_doesNotStopProgramsWithTheWholeList() {
    masters.found(0, 1, 2);
    masters.get(2).restart();

    masters.redlock(masters.uris(2), "doctor");
    Redlock program = masters.program(masters.uris(0, 1, 2));
    Masters.awaitVoting(program, 3);
    program.lock("x").acquire(Masters.WAIT).close();
  }

  @Test
  void doctorOfTheFirstOfThreeNewMasters_doesNotMakeItTheOnlyMember() {
    masters.redlock(masters.uris(0), "doctor");
    Redlock program = masters.program(masters.uris(0, 1, 2));
    Masters.awaitVoting(program, 3);

    masters.get(0).kill();
    program.lock("x").acquire(Masters.WAIT).close();
  }

  /** On three hosts the same name leads to three masters. */
  @Tag("thorough")
  @Test
  void doctorOfLocalhostOnEachHost_doesNotMakeThreeDeployments() {
    int port = 0;
    for (int host = 0; host < 3; host++) {
      try (TcpGate gate = TcpGate.inFrontOf("127.0.0.1", masters.get(host).directPort(), port)) {
        port = gate.port();
        masters.redlock(List.of("redis://localhost:" + port), "doctor");
      }
    }
    masters.assertUntold(0, 1, 2);
    Redlock one = masters.program(masters.uris(0, 1, 2));
    Redlock other = masters.program(masters.uris(2, 1, 0));
    try (Lease held = one.lock("x").acquire(Masters.WAIT)) {
      assertThat(other.awaitReady(Masters.WAIT)).isTrue();
      assertThat(other.lock("x").tryAcquire()).isEmpty();
      assertThat(held.isValid()).isTrue();
    }
    Masters.awaitVoting(other, 3);
  }
}
