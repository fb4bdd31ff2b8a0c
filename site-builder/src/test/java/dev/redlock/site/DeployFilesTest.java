package dev.redlock.site;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * What the files of the folder {@code deploy} promise, read from the files. {@code DeployIT} and
 * {@code ComposeIT} run them.
 */
class DeployFilesTest {
  private static final Path DEPLOY = Repository.ROOT.resolve("deploy");
  private static final List<String> MASTERS = List.of("master-1", "master-2", "master-3");

  /** The longest text of the README, in words. */
  private static final int README_WORDS = 350;

  private static String text(String file) throws IOException {
    return Files.readString(DEPLOY.resolve(file));
  }

  /** The documents of a file, as maps and lists. */
  private static List<Object> documents(String file) throws IOException {
    Yaml yaml = new Yaml(new SafeConstructor(new LoaderOptions()));
    return StreamSupport.stream(yaml.loadAll(text(file)).spliterator(), false).toList();
  }

  /** The value at the end of a path; fails if there is none. */
  private static Object at(Object from, Object... path) {
    Object value = from;
    for (Object step : path) {
      Object inner =
          step instanceof Integer index
              ? ((List<?>) value).get(index)
              : ((Map<?, ?>) value).get(step);
      assertThat(inner).as("%s of %s", step, value).isNotNull();
      value = inner;
    }
    return value;
  }

  private static List<String> texts(Object list) {
    return ((List<?>) list).stream().map(String::valueOf).toList();
  }

  // compose.yaml

  private static Object service(String name) throws IOException {
    return at(documents("compose.yaml").get(0), "services", name);
  }

  @Test
  void portsOfCompose_differ_andAreOnTheLoopbackAddressByDefault() throws IOException {
    Set<String> ports = new HashSet<>();
    for (String name : MASTERS) {
      List<String> published = texts(at(service(name), "ports"));
      assertThat(published).hasSize(1);
      assertThat(published.get(0))
          .matches("\\$\\{REDLOCK_ADDRESS:-127\\.0\\.0\\.1}:\\$\\{REDLOCK_PORT_\\d:-638\\d}:6379");
      ports.add(published.get(0));
    }
    assertThat(ports).hasSize(MASTERS.size());
  }

  @Test
  void masterOfCompose_hasTheSettings_theUsersAndTheProbe() throws IOException {
    for (String name : MASTERS) {
      Object master = service(name);
      assertThat(texts(at(master, "command")))
          .startsWith("/etc/redlock/redis.conf", "--aclfile", "/run/secrets/users.acl");
      assertThat(texts(at(master, "volumes")))
          .containsExactly(
              "./redis.conf:/etc/redlock/redis.conf:ro", "./ready.sh:/etc/redlock/ready.sh:ro");
      assertThat(texts(at(master, "secrets"))).containsExactly("users.acl", "probe.password");
      assertThat(texts(at(master, "healthcheck", "test")))
          .startsWith("CMD", "/bin/sh", "/etc/redlock/ready.sh")
          .endsWith("-g", "${REDLOCK_READY_AFTER:-35}");
      assertThat(texts(at(master, "cap_drop"))).containsExactly("ALL");
      assertThat(texts(at(master, "security_opt"))).containsExactly("no-new-privileges:true");
      assertThat(at(master, "read_only")).isEqualTo(true);
    }
  }

  // kubernetes.yaml

  private static List<Object> objects(String kind) throws IOException {
    return documents("kubernetes.yaml").stream()
        .filter(object -> at(object, "kind").equals(kind))
        .toList();
  }

  private static Object only(String kind) throws IOException {
    assertThat(objects(kind)).as(kind).hasSize(1);
    return objects(kind).get(0);
  }

  private static Object pod() throws IOException {
    return at(only("StatefulSet"), "spec", "template", "spec");
  }

  private static Object container() throws IOException {
    assertThat(texts(at(pod(), "containers"))).hasSize(1);
    return at(pod(), "containers", 0);
  }

  @Test
  void kubernetes_startsThreeMasters_andUpdatesOneAfterAnother() throws IOException {
    Object set = at(only("StatefulSet"), "spec");

    assertThat(at(set, "replicas")).isEqualTo(3);
    assertThat(at(set, "updateStrategy")).isEqualTo(Map.of("type", "RollingUpdate"));
    assertThat(at(pod(), "terminationGracePeriodSeconds")).isEqualTo(10);
  }

  @Test
  void podsOfKubernetes_areInDifferentZones_andOnDifferentMachines() throws IOException {
    Object labels = at(only("StatefulSet"), "spec", "template", "metadata", "labels");
    Object spread = at(pod(), "topologySpreadConstraints", 0);
    Object apart =
        at(
            pod(),
            "affinity",
            "podAntiAffinity",
            "requiredDuringSchedulingIgnoredDuringExecution",
            0);

    assertThat(at(spread, "topologyKey")).isEqualTo("topology.kubernetes.io/zone");
    assertThat(at(spread, "maxSkew")).isEqualTo(1);
    assertThat(at(spread, "minDomains")).isEqualTo(3);
    assertThat(at(spread, "whenUnsatisfiable")).isEqualTo("DoNotSchedule");
    assertThat(at(spread, "labelSelector", "matchLabels")).isEqualTo(labels);
    assertThat(at(apart, "topologyKey")).isEqualTo("kubernetes.io/hostname");
    assertThat(at(apart, "labelSelector", "matchLabels")).isEqualTo(labels);
  }

  @Test
  void disruptionBudget_letsOneMasterBeAway() throws IOException {
    Object budget = at(only("PodDisruptionBudget"), "spec");

    assertThat(at(budget, "maxUnavailable")).isEqualTo(1);
    assertThat(at(budget, "selector", "matchLabels"))
        .isEqualTo(at(only("StatefulSet"), "spec", "template", "metadata", "labels"));
  }

  /** Readiness has a longer time than the guard time: clients must have connected again. */
  @Test
  void readinessOfKubernetes_comesAfterTheGuardTime_andLivenessDoesNotWait() throws IOException {
    List<String> ready = texts(at(container(), "readinessProbe", "exec", "command"));
    List<String> alive = texts(at(container(), "livenessProbe", "exec", "command"));

    assertThat(ready).startsWith("/bin/sh", "/etc/redlock/ready.sh").doesNotContain("-a");
    int guard = ready.indexOf("-g");
    assertThat(guard).isPositive();
    assertThat(Integer.parseInt(ready.get(guard + 1))).isGreaterThan(32);
    assertThat(alive).startsWith("/bin/sh", "/etc/redlock/ready.sh", "-a").doesNotContain("-g");
  }

  /** Otherwise clients would see the restart, and begin its quarantine, after the guard time. */
  @Test
  void eachMasterOfKubernetes_hasAService_thatPublishesItBeforeItIsReady() throws IOException {
    Map<String, Object> services = new TreeMap<>();
    for (Object service : objects("Service")) {
      services.put((String) at(service, "metadata", "name"), at(service, "spec"));
    }

    assertThat(services).containsOnlyKeys("redlock", "redlock-0", "redlock-1", "redlock-2");
    for (int i = 0; i < 3; i++) {
      assertThat(at(services.get("redlock-" + i), "selector"))
          .isEqualTo(Map.of("statefulset.kubernetes.io/pod-name", "redlock-" + i));
    }
    assertThat(services.values())
        .allSatisfy(service -> assertThat(at(service, "publishNotReadyAddresses")).isEqualTo(true));
  }

  @Test
  void containerOfKubernetes_hasNoPrivileges_andItsMemoryFitsTheSettings() throws IOException {
    assertThat(at(container(), "securityContext"))
        .isEqualTo(
            Map.of(
                "allowPrivilegeEscalation",
                false,
                "readOnlyRootFilesystem",
                true,
                "capabilities",
                Map.of("drop", List.of("ALL"))));
    assertThat(at(pod(), "securityContext", "runAsNonRoot")).isEqualTo(true);
    assertThat(at(pod(), "automountServiceAccountToken")).isEqualTo(false);
    assertThat(at(container(), "resources", "limits")).isEqualTo(Map.of("memory", "384Mi"));
    assertThat(text("redis.conf")).contains("\nmaxmemory 256mb\n");
  }

  @Test
  void kubernetes_takesFilesAndSecretsOfTheKustomization() throws IOException {
    Object kustomization = documents("kustomization.yaml").get(0);

    assertThat(at(kustomization, "resources")).isEqualTo(List.of("kubernetes.yaml"));
    assertThat(at(kustomization, "configMapGenerator", 0))
        .isEqualTo(Map.of("name", "redlock-masters", "files", List.of("redis.conf", "ready.sh")));
    assertThat(at(kustomization, "secretGenerator", 0))
        .isEqualTo(
            Map.of(
                "name",
                "redlock-masters",
                "files",
                List.of("secrets/users.acl", "secrets/probe.password")));
    assertThat(text("kubernetes.yaml"))
        .contains("name: redlock-masters", "secretName: redlock-masters");
  }

  // systemd

  @Test
  void unit_restartsTheMaster_waitsForTheGuardTime_andIsHardened() throws IOException {
    List<String> unit = text("systemd/redis-redlock@.service").replace("\\\n", "").lines().toList();

    assertThat(unit)
        .contains(
            "Restart=always",
            "DynamicUser=yes",
            "LoadCredential=users.acl:/etc/redlock/users.acl",
            "NoNewPrivileges=yes",
            "ProtectSystem=strict",
            "CapabilityBoundingSet=",
            "SystemCallFilter=@system-service",
            "MemoryDenyWriteExecute=yes");
    assertThat(unit)
        .filteredOn(line -> line.startsWith("ExecStart"))
        .hasSize(2)
        .satisfiesExactly(
            start -> assertThat(start).contains("/etc/redlock/%i.conf --port %i --aclfile"),
            // Without "-", a master that is not ready in time would be ended.
            post -> assertThat(post).startsWith("ExecStartPost=-").endsWith(" -w 60"));
  }

  /** As systemd does: two dollars are one, and lines are joined. */
  @ParameterizedTest
  @ValueSource(strings = {"redis-server", "valkey-server"})
  void unit_startsTheServerThatIsInstalled(String server, @TempDir Path bin) throws Exception {
    Path standIn =
        Files.writeString(bin.resolve(server), "#!/bin/sh\nprintf '%s|' \"$0\" \"$@\"\n");
    assertThat(standIn.toFile().setExecutable(true)).isTrue();
    Matcher start =
        Pattern.compile("ExecStart=/bin/sh -c '(.*)' (master .*)")
            .matcher(text("systemd/redis-redlock@.service").replace("\\\n", ""));
    assertThat(start.find()).isTrue();
    List<String> command =
        new ArrayList<>(List.of("/bin/sh", "-c", start.group(1).replace("$$", "$")));
    command.addAll(List.of(start.group(2).split("\\s+")));
    ProcessBuilder process = new ProcessBuilder(command).redirectErrorStream(true);
    process.environment().put("PATH", bin.toString());

    String said = new String(process.start().getInputStream().readAllBytes(), UTF_8);

    String file = "${CREDENTIALS_DIRECTORY}/users.acl|";
    assertThat(said).isEqualTo(standIn + "|/etc/redlock/%i.conf|--port|%i|--aclfile|" + file);
  }

  // All files

  @Test
  void repository_hasNoPassword_andIgnoresTheSecrets() throws IOException {
    assertThat(text(".gitignore").lines()).containsExactlyInAnyOrder("/.env", "/secrets/");
    Pattern password =
        Pattern.compile("(?i)requirepass|\\bon >|password[:=][^/\\s]|#[0-9a-f]{64}|_AUTH=[^\"$]");
    List<String> found = new ArrayList<>();
    int files = 0;
    try (Stream<Path> all = Files.walk(DEPLOY)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        String name = DEPLOY.relativize(file).toString();
        if (!name.startsWith("secrets") && !name.equals(".env")) { // Those of a developer.
          files++;
          Files.readString(file)
              .lines()
              .filter(line -> password.matcher(line).find())
              .forEach(line -> found.add(name + ": " + line));
        }
      }
    }
    assertThat(files).isGreaterThanOrEqualTo(10);
    assertThat(found).isEmpty();
    assertThat(password.matcher("user app on >secret").find()).isTrue();
  }

  @Test
  void scripts_areExecutable() {
    assertThat(DEPLOY.resolve("ready.sh")).isExecutable();
    assertThat(DEPLOY.resolve("passwords.sh")).isExecutable();
  }

  @Test
  void readme_isShort_andItsLinksAndFilesExist() throws IOException {
    String readme = text("README.md");
    String path = "deploy/README.md";
    Map<String, Page> pages = new TreeMap<>();
    for (Path file : Repository.pages()) {
      String name = Repository.ROOT.relativize(file).toString().replace('\\', '/');
      pages.put(name, Page.parse(name, Files.readString(file)));
    }
    pages.put(path, Page.parse(path, readme));

    assertThat(readme.split("\\s+", -1)).hasSizeLessThanOrEqualTo(README_WORDS);
    assertThat(pages.get(path).links()).hasSizeGreaterThan(4);
    assertThat(new Links(Repository.ROOT, pages).dead()).isEmpty();
    Matcher file =
        Pattern.compile("`((?:systemd/)?[a-z@-]+\\.(?:sh|conf|yaml|service))`").matcher(readme);
    int files = 0;
    while (file.find()) {
      files++;
      assertThat(DEPLOY.resolve(file.group(1))).exists();
    }
    assertThat(files).isGreaterThan(4);
  }
}
