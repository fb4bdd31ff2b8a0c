package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.testkit.ContainersOfTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code deploy/compose.yaml}, started by a Docker engine, with an image of this machine's
 * redis-server.
 */
@OnContainers
@Tag("thorough")
class ComposeIT {
  private static final Duration WAIT = Duration.ofSeconds(60);

  /** Makes the guard time 7 s. */
  private static final Duration MAX_LEASE = Duration.ofSeconds(3);

  private static final String READY_AFTER_SECONDS = "10";

  @TempDir private Path folder;
  private String project;
  private List<String> compose;
  private DeployFolder deploy;
  private List<Integer> ports;

  @BeforeEach
  void start() throws Exception {
    project = "redlock-it-" + ProcessHandle.current().pid();
    compose = compose();
    for (String program : List.of("redis-server", "redis-cli", "ldd", "tar")) {
      assumeThat(Ran.which(program)).as("%s on the PATH, for the image", program).isPresent();
    }
    deploy = DeployFolder.copiedTo(folder.resolve("deploy"));
    Ran image =
        Ran.of(
            folder,
            Map.of(),
            List.of(
                "sh",
                Path.of(ComposeIT.class.getResource("/deploy-image.sh").toURI()).toString(),
                folder.resolve("image").toString(),
                project));
    assertThat(image.status()).as(image.said()).isZero();
    ports = ContainersOfTest.freePorts(3);
    Files.writeString(
        deploy.path().resolve(".env"),
        String.join(
            "\n",
            "COMPOSE_PROJECT_NAME=" + project,
            "REDLOCK_IMAGE=" + project,
            "REDLOCK_READY_AFTER=" + READY_AFTER_SECONDS,
            "REDLOCK_PORT_1=" + ports.get(0),
            "REDLOCK_PORT_2=" + ports.get(1),
            "REDLOCK_PORT_3=" + ports.get(2),
            ""),
        StandardOpenOption.APPEND);
    compose("up", "-d");
    for (String id : compose("ps", "-q").said().strip().split("\n", -1)) {
      ContainersOfTest.endWithThisJvm(id);
    }
  }

  /** The plugin, or the older program. */
  private List<String> compose() throws IOException, InterruptedException {
    assumeThat(Ran.which("docker")).as("docker on the PATH").isPresent();
    if (Ran.of(folder, Map.of(), List.of("docker", "compose", "version")).status() == 0) {
      return List.of("docker", "compose");
    }
    Optional<Path> older = Ran.which("docker-compose");
    assumeThat(older).as("docker compose, or docker-compose on the PATH").isPresent();
    return List.of(older.orElseThrow().toString());
  }

  @AfterEach
  void stop() throws IOException, InterruptedException {
    if (deploy != null) {
      compose("down", "-v", "-t", "0");
      Ran.of(folder, Map.of(), List.of("docker", "rmi", project));
    }
  }

  private Ran compose(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(compose);
    command.addAll(Arrays.asList(words));
    Ran ran = Ran.of(deploy.path(), Map.of(), command);
    assertThat(ran.status()).as("%s: %s", command, ran.said()).isZero();
    return ran;
  }

  @Test
  void masters_areHealthyAfterTheGuardTime_andOneOfThreeMayStop() throws Exception {
    for (int master = 1; master <= 3; master++) {
      int it = master;
      Eventually.holds(() -> health(it).equals("healthy"), WAIT, () -> "master " + it);
      assertOldEnough(ports.get(it - 1));
    }
    try (Redlock redlock = client()) {
      Clients.voting(redlock, 3); // With the restart guard: they are as old as the guard time.
      redlock.lock("composed").acquire(WAIT).close();

      compose("stop", "-t", "1", "master-2");
      try (Lease lease = redlock.lock("composed").acquire(WAIT)) {
        assertThat(lease.isValid()).isTrue();
      }

      compose("start", "master-2");
      Eventually.holds(
          () -> redlock.operations().nodes().get(1).cause().contains("restarted"),
          WAIT,
          () -> redlock.operations().nodes().toString());
    }
  }

  private void assertOldEnough(int port) throws IOException, InterruptedException {
    List<String> ready =
        List.of(
            "sh",
            deploy.path().resolve("ready.sh").toString(),
            "-p",
            Integer.toString(port),
            "-u",
            "probe",
            "-f",
            deploy.secret("probe.password").toString(),
            "-g",
            READY_AFTER_SECONDS);
    assertThat(Ran.of(folder, Map.of(), ready)).isEqualTo(new Ran(0, ""));
  }

  private String health(int master) throws IOException, InterruptedException {
    String id = compose("ps", "-q", "master-" + master).said().strip();
    return Ran.of(
            folder,
            Map.of(),
            List.of("docker", "inspect", "--format", "{{.State.Health.Status}}", id))
        .said()
        .strip();
  }

  private Redlock client() throws IOException {
    List<String> uris = new ArrayList<>();
    for (int port : ports) {
      uris.add("redis://app:" + deploy.password("app") + "@127.0.0.1:" + port);
    }
    return Redlock.builder()
        .nodes(uris.toArray(String[]::new))
        .maxLeaseTime(MAX_LEASE)
        .nodeTimeout(Duration.ofMillis(300))
        .build();
  }
}
