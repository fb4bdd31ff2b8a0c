package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.operations.Diagnosis;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.ConfiguredServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real servers with the settings and the users of the folder {@code deploy}. */
class DeployIT {
  private static final Duration WAIT = Duration.ofSeconds(10);
  private static final List<String> USERS = List.of("app", "operator", "look", "probe", "admin");

  @TempDir private static Path folder;
  private static DeployFolder deploy;
  private static List<ConfiguredServer> masters = List.of();

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    deploy = DeployFolder.copiedTo(folder);
    masters = List.of(master(), master(), master());
  }

  @AfterAll
  static void stop() {
    masters.forEach(ConfiguredServer::close);
  }

  /** A master as compose.yaml starts it, but on the loopback address that redis.conf names. */
  private static ConfiguredServer master() throws IOException {
    return start(deploy.path().resolve("redis.conf"));
  }

  private static ConfiguredServer start(Path config) throws IOException {
    return ConfiguredServer.start(
        "probe",
        deploy.password("probe"),
        config.toString(),
        "--aclfile",
        deploy.secret("users.acl").toString());
  }

  private static Redlock client(String user) throws IOException {
    List<String> uris = new ArrayList<>();
    for (ConfiguredServer master : masters) {
      uris.add("redis://" + user + ":" + deploy.password(user) + "@127.0.0.1:" + master.port());
    }
    Redlock redlock =
        Redlock.builder()
            .nodes(uris.toArray(String[]::new))
            .nodeTimeout(Clients.PATIENCE)
            .restartGuard(RestartGuard.OFF) // They are new.
            .build();
    assertThat(redlock.awaitReady(WAIT)).as("%s", redlock.operations().nodes()).isTrue();
    return redlock;
  }

  private static String ask(String user, String... words) throws IOException {
    try (RawUser raw = RawUser.login(masters.get(0).port(), user, deploy.password(user))) {
      return raw.ask(words);
    }
  }

  @Test
  void app_locksAndReleases_onAllMasters() throws Exception {
    try (Redlock redlock = client("app")) {
      Clients.voting(redlock, 3);
      try (Lease lease = redlock.lock("deployed").acquire(WAIT)) {
        assertThat(lease.isValid()).isTrue();
        assertThat(redlock.lock("deployed").tryAcquire()).isEmpty();
      }
      Eventually.holds(
          () -> Clients.owesNothing(redlock), WAIT, () -> redlock.operations().nodes().toString());
    }
    for (ConfiguredServer master : masters) {
      assertThat(
              master.command(
                  "admin", deploy.password("admin"), "EXISTS", Clients.lockKey("deployed")))
          .isEqualTo(0L);
    }
  }

  @Test
  void doctor_onTheseSettings_complainsOnlyAboutTheGuard_whichThisTestSwitchedOff()
      throws Exception {
    try (Redlock redlock = client("operator")) {
      Clients.voting(redlock, 3);
      Diagnosis diagnosis =
          redlock.operations().doctor().toCompletableFuture().get(10, TimeUnit.SECONDS);

      List<String> complaints = new ArrayList<>(diagnosis.complaints());
      diagnosis.nodes().forEach(node -> complaints.addAll(node.complaints()));
      assertThat(diagnosis.nodes()).hasSize(3);
      assertThat(complaints)
          .as("%s", diagnosis)
          .isNotEmpty()
          .allSatisfy(complaint -> assertThat(complaint).contains("RestartGuard.OFF"));
    }
  }

  @Test
  void settingsOfTheChecklist_areInEffect() throws Exception {
    Map<String, String> wanted =
        Map.of(
            "maxmemory-policy", "noeviction",
            "maxmemory", Long.toString(256L << 20),
            "appendonly", "no",
            "save", "",
            "protected-mode", "yes",
            "bind", "127.0.0.1 -::1",
            "timeout", "0");
    for (ConfiguredServer master : masters) {
      for (Map.Entry<String, String> setting : wanted.entrySet()) {
        assertThat(
                master.command(
                    "admin", deploy.password("admin"), "CONFIG", "GET", setting.getKey()))
            .isEqualTo(List.of(setting.getKey(), setting.getValue()));
      }
    }
  }

  @Test
  void app_isRefusedAllThatALockDoesNotNeed() throws Exception {
    for (String line :
        List.of(
            "CONFIG GET dir",
            "FLUSHALL",
            "KEYS *",
            "SCAN 0",
            "SHUTDOWN NOSAVE",
            "ACL LIST",
            "REPLICAOF NO ONE",
            "SWAPDB 0 1",
            "SCRIPT FLUSH",
            "GET others",
            "SET others x")) {
      assertThat(ask("app", line.split(" ", -1))).as(line).startsWith("-NOPERM");
    }
    assertThat(ask("app", "GET", "redlock:{free}")).isEqualTo("$-1");
  }

  @Test
  void operator_listsLocks_andIsRefusedTheRest() throws Exception {
    assertThat(ask("operator", "SCAN", "0", "MATCH", "redlock:*")).isEqualTo("*2");
    for (String line : List.of("CONFIG GET dir", "FLUSHALL", "KEYS *", "GET others")) {
      assertThat(ask("operator", line.split(" ", -1))).as(line).startsWith("-NOPERM");
    }
  }

  @Test
  void probe_readsTheStateOfTheMaster_andNoKey() throws Exception {
    assertThat(ask("probe", "PING")).isEqualTo("+PONG");
    assertThat(ask("probe", "INFO")).startsWith("$");
    for (String line :
        List.of("GET redlock:{a}", "SET redlock:{a} x", "TIME", "CONFIG GET dir", "SCAN 0")) {
      assertThat(ask("probe", line.split(" ", -1))).as(line).startsWith("-NOPERM");
    }
  }

  @Test
  void aClientWithoutAUser_isRefused() {
    int port = masters.get(0).port();
    assertThatThrownBy(() -> RawUser.login(port, "default", "").close())
        .hasMessageStartingWith("-WRONGPASS");
    assertThatThrownBy(() -> masters.get(0).command("", "", "PING"))
        .hasMessageStartingWith("NOAUTH");
  }

  @Test
  void users_areThoseOfTheOperationsPage() throws Exception {
    String page = String.join(" ", LeastUser.command());
    String permissions = page.substring(page.indexOf("~redlock:*"));
    Map<String, String> users = new java.util.HashMap<>();
    for (String line : Files.readAllLines(deploy.secret("users.acl"))) {
      String[] words = line.replaceFirst(" reset on #[0-9a-f]{64} ", " ").split(" ", 3);
      users.put(words[1], words[2]);
    }
    assertThat(users).containsOnlyKeys("default", "app", "operator", "look", "probe", "admin");
    assertThat(users).containsEntry("default", "reset off").containsEntry("app", permissions);
    assertThat(users).containsEntry("operator", permissions + " +scan");
    assertThat(DeployFolder.ours().resolveSibling("docs/command.md"))
        .content()
        .contains(" look reset on >secret " + users.get("look") + "\n");
    for (String user : USERS) {
      assertThat(users.get(user)).doesNotStartWith("reset ");
    }
  }

  @Test
  void passwords_areRandom_andOnlyTheirOwnerReadsThem(@TempDir Path other) throws Exception {
    DeployFolder second = DeployFolder.copiedTo(other);
    Set<String> all = new HashSet<>();
    for (DeployFolder each : List.of(deploy, second)) {
      for (String user : USERS) {
        assertThat(each.password(user)).matches("[A-Za-z0-9_-]{32}");
        all.add(each.password(user));
        assertThat(mode(each.secret(user + ".password"))).isEqualTo("rw-------");
      }
      assertThat(mode(each.secret("."))).isEqualTo("rwx------");
    }
    assertThat(all).hasSize(2 * USERS.size());
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void passwords_areInNoOtherFile() throws Exception {
    int files = 0;
    try (Stream<Path> all = Files.walk(deploy.path())) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        if (!file.toString().endsWith(".password")) {
          files++;
          for (String user : USERS) {
            assertThat(file).content().doesNotContain(deploy.password(user));
          }
        }
      }
    }
    assertThat(files).isGreaterThan(10);
  }

  @Test
  void passwords_thatExist_areNotReplaced() throws Exception {
    String before = Files.readString(deploy.secret("users.acl"));

    Ran again = deploy.makePasswords();

    assertThat(again.status()).isEqualTo(1);
    assertThat(again.said()).contains("secrets exists");
    assertThat(deploy.secret("users.acl")).hasContent(before);
  }

  @Test
  void probeScript_asTheUserProbe_saysWhetherTheMasterIsReady() throws Exception {
    assumeThat(Ran.which("redis-cli")).as("redis-cli on the PATH").isPresent();

    assertThat(ready("probe.password", "0")).isEqualTo(new Ran(0, ""));
    assertThat(ready("probe.password", "99999").said()).contains("it is too young");
    assertThat(ready("app.password", "0").said()).contains("it rejects the user or the password");
  }

  private static Ran ready(String passwordFile, String guardSeconds)
      throws IOException, InterruptedException {
    String script = deploy.path().resolve("ready.sh").toString();
    String port = Integer.toString(masters.get(0).port());
    String file = deploy.secret(passwordFile).toString();
    List<String> words =
        List.of("sh", script, "-p", port, "-u", "probe", "-f", file, "-g", guardSeconds);
    return Ran.of(folder, Map.of(), words);
  }

  @Test
  void fileOfNodes_isForTheOperator_andHasNoPassword() throws Exception {
    assertThat(Files.readAllLines(deploy.secret("nodes")))
        .contains(
            "redis://127.0.0.1:6381",
            "redis://127.0.0.1:6382",
            "redis://127.0.0.1:6383",
            "user = operator",
            "password-file = " + deploy.secret("operator.password").toRealPath());
  }

  @Test
  void configurationOfTheUnit_startsAMaster_withTheSameSettings() throws Exception {
    String text = Files.readString(deploy.path().resolve("systemd/master.conf"));
    assertThat(text).contains("include /etc/redlock/redis.conf\n");
    Path local =
        Files.writeString(
            folder.resolve("6379.conf"),
            text.replace(
                "/etc/redlock/redis.conf", deploy.path().resolve("redis.conf").toString()));
    try (ConfiguredServer master = start(local)) {
      assertThat(
              master.command(
                  "admin", deploy.password("admin"), "CONFIG", "GET", "maxmemory-policy"))
          .isEqualTo(List.of("maxmemory-policy", "noeviction"));
    }
  }

  @Test
  void unit_isFaultless_andExposesLittle(@TempDir Path units) throws Exception {
    assumeThat(Ran.which("systemd-analyze")).as("systemd-analyze on the PATH").isPresent();
    String unit = Files.readString(deploy.path().resolve("systemd/redis-redlock@.service"));
    String installed = "/usr/local/lib/redlock/ready.sh";
    assertThat(unit).contains(installed);
    Files.writeString(
        units.resolve("redis-redlock@6379.service"),
        unit.replace(installed, deploy.path().resolve("ready.sh").toString()));

    Ran verified = analyze(units, "verify", "./redis-redlock@6379.service");
    assertThat(verified).isEqualTo(new Ran(0, ""));

    Ran secure =
        analyze(
            units, "security", "--offline=yes", "--threshold=20", "./redis-redlock@6379.service");
    assumeThat(secure.said()).as("a systemd that knows --offline").doesNotContain("--offline");
    assertThat(secure.status()).as(secure.said()).isZero();
    assertThat(secure.said()).contains("Overall exposure level");
  }

  private static Ran analyze(Path units, String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("systemd-analyze", "--no-pager"));
    command.addAll(Arrays.asList(words));
    return Ran.of(units, Map.of(), command);
  }

  @Test
  void kustomization_withTheseSecrets_rendersAllObjects() throws Exception {
    String rendered = rendered(deploy);

    assertThat(rendered.lines().filter(line -> line.startsWith("kind: ")).distinct().sorted())
        .containsExactly(
            "kind: ConfigMap",
            "kind: NetworkPolicy",
            "kind: PodDisruptionBudget",
            "kind: Secret",
            "kind: Service",
            "kind: StatefulSet");
    assertThat(rendered.lines().filter("kind: Service"::equals)).hasSize(4);
    // The hash at the end of the names makes the pods restart when a file changes.
    assertThat(rendered).containsPattern("secretName: redlock-masters-[a-z0-9]{10}\n");
    assertThat(rendered).doesNotContain(deploy.password("app"));
  }

  @Test
  void kustomization_withTheComponentTls_isTlsAlone_alsoForTheProbes(@TempDir Path other)
      throws Exception {
    DeployFolder secure = DeployFolder.copiedTo(other);
    Path file = other.resolve("kustomization.yaml");
    Files.writeString(file, Files.readString(file).replace("# components:", "components:"));

    String rendered = rendered(secure);

    assertThat(rendered).contains("- --port\n        - \"0\"\n        - --tls-port\n");
    assertThat(rendered.split("- --cacert\n", -1)).as("readiness alone").hasSize(2);
    assertThat(rendered).contains("- --insecure\n");
  }

  private static String rendered(DeployFolder from) throws IOException, InterruptedException {
    assumeThat(Ran.which("kubectl")).as("kubectl on the PATH").isPresent();
    List<String> command = List.of("kubectl", "kustomize", from.path().toString());
    Ran rendered = Ran.of(folder, Map.of("KUBECONFIG", "/dev/null"), command);
    assertThat(rendered.status()).as(rendered.said()).isZero();
    return rendered.said();
  }
}
