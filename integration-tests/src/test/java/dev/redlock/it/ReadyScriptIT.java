package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code deploy/ready.sh} against real servers, and against a scripted redis-cli. */
@RedisTest(nodes = 2)
class ReadyScriptIT {
  private static final String NEVER = "999999999";

  @TempDir private Path folder;

  /** The shells that run the script. */
  enum Shell {
    /** The shell and the tools of this machine. */
    SYSTEM,
    /** Those of Alpine, and so of its Redis image: busybox, and nothing else. */
    BUSYBOX;

    private static final List<String> TOOLS =
        List.of("sh", "date", "head", "sed", "sleep", "timeout", "tr");

    /** A folder that is the whole PATH of the script, with this redis-cli. */
    String path(Path folder, Path cli) throws IOException {
      Optional<Path> busybox = Ran.which("busybox");
      if (this == BUSYBOX) {
        assumeThat(busybox).as("busybox on the PATH").isPresent();
      }
      Path tools = Files.createDirectories(folder.resolve("tools"));
      for (String tool : TOOLS) {
        Optional<Path> real = this == BUSYBOX ? busybox : Ran.which(tool);
        Files.createSymbolicLink(tools.resolve(tool), real.orElseThrow());
      }
      Files.createSymbolicLink(tools.resolve("redis-cli"), cli);
      return tools.toString();
    }
  }

  private Ran ready(Shell shell, String... args) throws IOException, InterruptedException {
    Optional<Path> cli = Ran.which("redis-cli");
    assumeThat(cli).as("redis-cli on the PATH").isPresent();
    return ready(shell, cli.get(), args);
  }

  private Ran ready(Shell shell, Path cli, String... args)
      throws IOException, InterruptedException {
    String path = shell.path(Files.createTempDirectory(folder, "run"), cli);
    List<String> command = new ArrayList<>(List.of(path + "/sh"));
    command.add(DeployFolder.ours().resolve("ready.sh").toString());
    command.addAll(Arrays.asList(args));
    return Ran.of(folder, Map.of("PATH", path), command);
  }

  private static String port(RedisNode node) {
    return Integer.toString(node.directPort());
  }

  private static void assertNotReady(Ran ran, String why) {
    assertThat(ran.said()).contains(why);
    assertThat(ran.said().strip().lines()).as("one sentence").hasSize(1);
    assertThat(ran.status()).isEqualTo(1);
  }

  private static void assertReady(Ran ran) {
    assertThat(ran).isEqualTo(new Ran(0, ""));
  }

  @ParameterizedTest
  @EnumSource
  void master_youngerThanTheGuardTime_isNotReady(Shell shell, RedisNodes nodes) throws Exception {
    assertNotReady(
        ready(shell, "-p", port(nodes.get(0)), "-g", NEVER),
        "it is too young: it started "); // The number of seconds follows.
  }

  @ParameterizedTest
  @EnumSource
  void master_asOldAsTheGuardTime_isReady(Shell shell, RedisNodes nodes) throws Exception {
    assertReady(ready(shell, "-p", port(nodes.get(0)), "-g", "0"));
  }

  @ParameterizedTest
  @EnumSource
  void restartedMaster_thatTheScriptWaitsFor_isReadyAfterTheGuardTime(Shell shell, RedisNodes nodes)
      throws Exception {
    nodes.get(0).restart();

    assertReady(ready(shell, "-p", port(nodes.get(0)), "-g", "1", "-w", "60"));

    assertThat(uptimeSeconds(nodes.get(0))).isPositive();
  }

  private static long uptimeSeconds(RedisNode node) {
    return String.valueOf(node.command("INFO", "server"))
        .lines()
        .filter(line -> line.startsWith("uptime_in_seconds:"))
        .mapToLong(line -> Long.parseLong(line.replaceFirst(".*:", "").strip()))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @EnumSource
  void replica_isNotReady(Shell shell, RedisNodes nodes) throws Exception {
    RedisNode replica = nodes.get(1);
    replica.command("REPLICAOF", "127.0.0.1", port(nodes.get(0)));
    try {
      assertNotReady(ready(shell, "-p", port(replica), "-g", "0"), "it is a slave");
    } finally {
      replica.command("REPLICAOF", "NO", "ONE");
    }
  }

  @ParameterizedTest
  @EnumSource
  void fullMaster_isNotReady_andIsAlive(Shell shell) throws Exception {
    // An empty server uses more than this.
    try (RedisNodes full =
        RedisNodes.builder().count(1).serverArgs("--maxmemory", "100kb").start()) {
      assertNotReady(ready(shell, "-p", port(full.get(0)), "-g", "0"), "it is full: it uses ");
      assertReady(ready(shell, "-p", port(full.get(0)), "-a"));
    }
  }

  @ParameterizedTest
  @EnumSource
  void master_thatUsesLessThanTheLimit_isReady(Shell shell) throws Exception {
    try (RedisNodes roomy =
        RedisNodes.builder().count(1).serverArgs("--maxmemory", "100mb").start()) {
      assertReady(ready(shell, "-p", port(roomy.get(0)), "-g", "0"));
      assertNotReady(
          ready(shell, "-p", port(roomy.get(0)), "-g", "0", "-m", "0"), "the limit is 0 %");
    }
  }

  @ParameterizedTest
  @EnumSource
  void master_thatEvicts_isNotReady(Shell shell, RedisNodes nodes) throws Exception {
    nodes.get(0).command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
    try {
      assertNotReady(
          ready(shell, "-p", port(nodes.get(0)), "-g", "0"),
          "its maxmemory-policy is volatile-lru, and must be noeviction");
    } finally {
      nodes.get(0).command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }
  }

  @ParameterizedTest
  @EnumSource
  void wrongPassword_isNamed_andTheMasterIsAlive(Shell shell) throws Exception {
    Path wrong = Files.writeString(folder.resolve("wrong"), "guessed\n");
    Path right = Files.writeString(folder.resolve("right"), "secret\n");
    try (RedisNodes closed = RedisNodes.builder().count(1).login("probe", "secret").start()) {
      String port = port(closed.get(0));

      assertReady(ready(shell, "-p", port, "-u", "probe", "-f", right.toString(), "-g", "0"));
      Ran rejected = ready(shell, "-p", port, "-u", "probe", "-f", wrong.toString(), "-g", "0");
      assertNotReady(rejected, "it rejects the user or the password");
      assertThat(rejected.said()).doesNotContain("guessed");
      assertNotReady(ready(shell, "-p", port, "-g", "0"), "it wants a password");
      assertReady(ready(shell, "-p", port, "-u", "probe", "-f", wrong.toString(), "-a"));
    }
  }

  @ParameterizedTest
  @EnumSource
  void deadMaster_doesNotAnswer(Shell shell, RedisNodes nodes) throws Exception {
    nodes.get(0).kill();

    assertNotReady(
        ready(shell, "-p", port(nodes.get(0)), "-g", "0"),
        "it does not answer: Could not connect to ");
    assertNotReady(ready(shell, "-p", port(nodes.get(0)), "-a"), "it does not answer: ");
  }

  @ParameterizedTest
  @EnumSource
  void hungMaster_doesNotAnswerInTime(Shell shell, RedisNodes nodes) throws Exception {
    nodes.get(0).pause();

    // -a as well: a restart helps.
    assertNotReady(
        ready(shell, "-p", port(nodes.get(0)), "-t", "1", "-a"), "it does not answer within 1 s");
  }

  @ParameterizedTest
  @EnumSource
  void youngMaster_isAlive(Shell shell, RedisNodes nodes) throws Exception {
    assertReady(ready(shell, "-p", port(nodes.get(0)), "-g", NEVER, "-a"));
  }

  @ParameterizedTest
  @EnumSource
  void wrongCalls_areRefused_beforeAnyServerIsAsked(Shell shell) throws Exception {
    for (String[] args :
        List.of(
            new String[] {"-g", "soon"},
            new String[] {"-p", ""},
            new String[] {"-m", "08"},
            new String[] {"-x"},
            new String[] {"-f", folder.resolve("gone").toString()})) {
      Ran ran = ready(shell, scripted("touch asked"), args);
      assertThat(ran.status()).as(ran.said()).isEqualTo(64);
    }
    assertThat(folder.resolve("asked")).doesNotExist();
  }

  /** A redis-cli that does what the text says. */
  private Path scripted(String text) throws IOException {
    Path cli = Files.createTempFile(folder, "cli", "");
    Files.writeString(cli, "#!/bin/sh\n" + text + "\n");
    assertThat(cli.toFile().setExecutable(true)).isTrue();
    return cli;
  }

  @ParameterizedTest
  @EnumSource
  void password_isPassedByTheEnvironment_andIsNoArgument(Shell shell) throws Exception {
    Path password = Files.writeString(folder.resolve("password"), "s3cret");
    Path cli = scripted("echo \"$@\" >arguments; echo \"$REDISCLI_AUTH\" >password-seen");

    ready(shell, cli, "-u", "probe", "-f", password.toString(), "--", "--tls");

    assertThat(folder.resolve("arguments"))
        .hasContent("-h 127.0.0.1 -p 6379 --user probe --tls INFO");
    assertThat(folder.resolve("password-seen")).hasContent("s3cret");
  }

  @ParameterizedTest
  @EnumSource
  void replies_thatNoWorkingMasterGives_areNotReady(Shell shell) throws Exception {
    String info =
        "printf 'role:master\\r\\nuptime_in_seconds:99\\r\\nused_memory:5\\r\\nmaxmemory:0\\r\\n"
            + "maxmemory_policy:noeviction\\r\\nloading:%s\\r\\ncluster_enabled:%s\\r\\n' ";
    assertReady(ready(shell, scripted(info + "0 0")));
    assertNotReady(ready(shell, scripted(info + "1 0")), "it is loading its data");
    assertNotReady(ready(shell, scripted(info + "0 1")), "it is a node of a cluster");
    assertNotReady(ready(shell, scripted("echo role:master")), "does not show its age");
    assertNotReady(ready(shell, scripted("exit 1")), "it closed the connection");
    assertNotReady(
        ready(shell, scripted("echo BUSY a script runs")), "it answers: BUSY a script runs");
    assertNotReady(ready(shell, scripted("echo HTTP/1.1 400")), "it answers: HTTP/1.1 400");
    assertReady(ready(shell, scripted("echo BUSY a script runs"), "-a"));
    assertNotReady(ready(shell, scripted("echo HTTP/1.1 400"), "-a"), "it answers: HTTP/1.1 400");
  }
}
