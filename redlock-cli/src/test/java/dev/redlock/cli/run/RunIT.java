package dev.redlock.cli.run;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code redlock run} as a process, on real servers. */
@RedisTest(nodes = 3, gated = true, locksMayRemain = true)
class RunIT {
  private static final Map<String, Integer> NUMBERS =
      Map.of("TERM", 15, "INT", 2, "HUP", 1, "USR1", 10, "USR2", 12, "QUIT", 3, "KILL", 9);

  private static final Duration DEADLINE = Duration.ofMinutes(2);

  /** How many leases are lost; 50 when a release is checked. */
  private static final int LOSSES = Integer.getInteger("redlock.cli.losses", 1);

  /** How often a process is killed at a random instant; 100 when a release is checked. */
  private static final int INSTANTS = Integer.getInteger("redlock.cli.instants", 2);

  /** The margin of the keeper is a tenth of it: this is for a busy machine. */
  private static final String LOST_LEASE = System.getProperty("redlock.cli.lease", "8s");

  @TempDir Path folder;

  @Test
  void childThatEnds_exitCodeIsItsOwnAndNothingIsPrinted(RedisNodes nodes) throws Exception {
    try (Wrapper wrapper =
        Wrapper.run(
            folder,
            nodes,
            "a",
            "b",
            "--",
            "sh",
            "-c",
            "echo $REDLOCK_NAME $REDLOCK_TOKEN; exit 7")) {
      assertThat(wrapper.exitCode()).isEqualTo(7);
      assertThat(wrapper.out()).matches("a,b [1-9]\\d*\n");
      assertThat(wrapper.err()).isEmpty();
    }
  }

  @Test
  void childThatASignalKills_exitCodeIs128AndTheNumber(RedisNodes nodes) throws Exception {
    assertThat(codeOf(nodes, "a", "--", "sh", "-c", "kill -9 $$")).isEqualTo(137);
  }

  @Test
  void childThatCannotStart_is126Or127AndTheLockIsFree(RedisNodes nodes) throws Exception {
    assertThat(codeOf(nodes, "a", "--", "/nonexistent/program")).isEqualTo(127);
    assertThat(codeOf(nodes, "-n", "a", "--", "/etc/passwd")).isEqualTo(126);
    assertThat(codeOf(nodes, "-n", "a", "--", "true")).isZero();
  }

  @Test
  void lockThatOthersHold_is75OrTheGivenCode(RedisNodes nodes) throws Exception {
    try (Wrapper holder = holding(nodes, "a")) {
      assertThat(codeOf(nodes, "-n", "a", "--", "true")).isEqualTo(75);
      assertThat(codeOf(nodes, "-w", "200ms", "a", "--", "true")).isEqualTo(75);
      assertThat(codeOf(nodes, "-n", "-E", "0", "a", "--", "false")).isZero();
      assertThat(holder.isAlive()).isTrue();
    }
  }

  @Test
  void noMajority_is69AndNamesTheNodes(RedisNodes nodes) throws Exception {
    nodes.get(0).kill();
    nodes.get(1).kill();
    try (Wrapper wrapper = Wrapper.run(folder, nodes, "--connect", "2s", "-n", "a", "--", "true")) {
      assertThat(wrapper.exitCode()).isEqualTo(69);
      assertThat(wrapper.err()).contains("too few nodes").containsAnyOf("VOTING", "PROBING");
      assertThat(wrapper.err().lines()).hasSize(1);
    }
  }

  /** The keeper has none of the caller's open files, and must not wait for a pipe. */
  @ParameterizedTest
  @ValueSource(strings = {"/dev/stdin", "/dev/fd/63"})
  void passwordFileThatIsAnOpenFile_is64(String file, RedisNodes nodes) throws Exception {
    try (Wrapper wrapper =
        Wrapper.run(folder, nodes, "-n", "--password-file", file, "a", "--", "true")) {
      assertThat(wrapper.exitCode()).isEqualTo(64);
      assertThat(wrapper.err()).contains("redlock run needs a regular file");
    }
  }

  @Test
  void wrongPassword_is69AndIsNotPrinted(RedisNodes nodes) throws Exception {
    Map<String, String> environment =
        Map.of(
            "REDLOCK_NODES", String.join(",", nodes.uris()), "REDLOCK_PASSWORD", "secret-of-mine");
    try (Wrapper wrapper =
        Wrapper.start(folder, environment, List.of("run", "-n", "a", "--", "true"))) {
      assertThat(wrapper.exitCode()).isEqualTo(69);
      assertThat(wrapper.err()).contains("too few nodes").doesNotContain("secret-of-mine");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT", "HUP", "USR1", "USR2"})
  void signal_whileTheChildRuns_arrivesThere(String signal, RedisNodes nodes) throws Exception {
    String script = "trap 'echo got; exit 3' " + signal + "; echo up; while :; do sleep 0.05; done";
    try (Wrapper wrapper = Wrapper.run(folder, nodes, "a", "--", "sh", "-c", script)) {
      await().atMost(DEADLINE).until(() -> wrapper.out().contains("up"));
      wrapper.signal(signal);
      assertThat(wrapper.exitCode()).isEqualTo(3);
      assertThat(wrapper.out()).isEqualTo("up\ngot\n");
      assertThat(codeOf(nodes, "-n", "a", "--", "true")).isZero();
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT", "HUP", "USR1", "USR2"})
  void signal_whileWaiting_givesUp(String signal, RedisNodes nodes) throws Exception {
    int number = NUMBERS.get(signal);
    try (Wrapper holder = holding(nodes, "a");
        Wrapper waiter = Wrapper.run(folder, nodes, "a", "--", "echo", "ran")) {
      await().atMost(DEADLINE).until(() -> isQueued(nodes));
      waiter.signal(signal);
      assertThat(waiter.exitCode()).isEqualTo(128 + number);
      assertThat(waiter.out()).isEmpty();
      assertThat(holder.isAlive()).isTrue();
    }
  }

  @Test
  void childKilled_lockIsFreeAtOnce(RedisNodes nodes) throws Exception {
    try (Wrapper holder = holding(nodes, "a", "--lease", "30s")) {
      holder.signal("KILL");
      assertThat(holder.exitCode()).isEqualTo(137);
      // For as long as the lease, the lock would be held for longer than this wait.
      assertThat(codeOf(nodes, "-w", "10s", "a", "--", "true")).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sh", "a\nname ) of two lines"})
  void keeperKilled_childAndItsTreeAreGoneBeforeTheLeaseEnds(String shell, RedisNodes nodes)
      throws Exception {
    Path beats = folder.resolve("beats");
    Path status = folder.resolve("status");
    String[] run = {"--lease", LOST_LEASE, "--status", status.toString(), "a", "--"};
    String[] child = forksOnTerm(beats);
    child[0] = Files.copy(Path.of("/bin/sh"), folder.resolve(shell)).toString();
    try (Wrapper wrapper = Wrapper.run(folder, nodes, with(run, child))) {
      await().atMost(DEADLINE).until(() -> Files.exists(beats));
      long expiresMillis = lastExpiryMillis(nodes, "a");
      assertThat(wrapper.keeper().orElseThrow().destroyForcibly()).isTrue();
      assertThat(wrapper.exitCode()).isIn(143, 137);
      await().atMost(DEADLINE).until(() -> wrapper.watchdog().isEmpty());
      assertThat(lastBeatMillis(beats)).as(wrapper.err()).isLessThan(expiresMillis);
      assertThat(Files.readString(status)).startsWith("lost ");
      // Said beside the watchdog's end, for the output may hang.
      await().atMost(DEADLINE).until(() -> wrapper.err().contains("has ended"));
      assertThat(wrapper.err()).contains("was killed: TERM");
    }
  }

  /**
   * As on a file server that is gone: who opens the file waits, here for the reader that has a
   * lease of the kernel on it, for 45 s at most.
   */
  @Test
  void statusThatHangs_delaysNeitherTheCommandNorItsEnd(RedisNodes nodes) throws Exception {
    Path beats = folder.resolve("beats");
    Path status = Files.createFile(folder.resolve("status"));
    String lease = "import fcntl,time; f = open('" + status + "'); fcntl.fcntl(f, 1024, 0);";
    String[] run = {"--lease", LOST_LEASE, "--status", status.toString(), "a", "--"};
    Process reader =
        new ProcessBuilder(
                "env",
                "--ignore-signal=IO",
                "python3",
                "-c",
                lease + "print(flush=True); time.sleep(600)")
            .start();
    assumeThat(reader.getInputStream().read()).as("a lease on a file, and python3").isPositive();
    try (Wrapper wrapper = Wrapper.run(folder, nodes, with(run, forksOnTerm(beats)))) {
      await().atMost(DEADLINE).until(() -> Files.exists(beats));
      assertThat(status).isEmptyFile();
      long expiresMillis = lastExpiryMillis(nodes, "a");
      wrapper.keeper().orElseThrow().destroyForcibly();
      assertThat(wrapper.exitCode()).isIn(143, 137);
      await().atMost(DEADLINE).until(() -> wrapper.err().contains("has ended"));
      assertThat(lastBeatMillis(beats)).as(wrapper.err()).isLessThan(expiresMillis);
    } finally {
      reader.destroyForcibly();
    }
  }

  /** At each lookup the JDK opens its file of names: here a pipe without a writer, which hangs. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void lookupOfANodeThatHangs_fromTheStartOrWhileTheLockIsHeld_costsNoLock(
      boolean held, RedisNodes nodes) throws Exception {
    Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.1 localhost\n");
    Path pipe = folder.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    String uris = String.join(",", nodes.uris()).replaceFirst("127.0.0.1", "localhost");
    Map<String, String> environment =
        Map.of(
            "REDLOCK_NODES",
            uris,
            "REDLOCK_JAVA_OPTS",
            "-Djdk.net.hosts.file=" + hosts + " -Dsun.net.inetaddr.ttl=0");
    String run = "run --restart-guard OFF --connect 60s --lease 3s a -- sh -c";
    if (!held) {
      Files.move(pipe, hosts, StandardCopyOption.REPLACE_EXISTING);
    }
    String[] all = with(run.split(" ", -1), "echo up; sleep 7");
    try (Wrapper wrapper = Wrapper.start(folder, environment, List.of(all))) {
      await().atMost(DEADLINE).until(() -> wrapper.out().contains("up"));
      if (held) {
        await()
            .atMost(DEADLINE)
            .until(() -> nodes.stream().allMatch(each -> each.key("redlock:{a}").isPresent()));
        Files.move(pipe, hosts, StandardCopyOption.REPLACE_EXISTING);
        nodes.get(0).command("CLIENT", "KILL", "TYPE", "normal");
      }
      assertThat(wrapper.exitCode()).as(wrapper.err()).isZero();
    }
  }

  @Test
  void watchdogKilled_changesNothing(RedisNodes nodes) throws Exception {
    try (Wrapper wrapper =
        Wrapper.run(folder, nodes, "a", "--", "sh", "-c", "echo up; read line; exit 3")) {
      await().atMost(DEADLINE).until(() -> wrapper.out().contains("up"));
      assertThat(wrapper.watchdog().orElseThrow().destroyForcibly()).isTrue();
      assertThat(codeOf(nodes, "-n", "a", "--", "true")).isEqualTo(75);
      wrapper.closeInput();
      assertThat(wrapper.exitCode()).isEqualTo(3);
      assertThat(codeOf(nodes, "-w", "10s", "a", "--", "true")).isZero();
      assertThat(wrapper.err()).isEmpty();
    }
  }

  /** Some shells ignore QUIT. */
  @ParameterizedTest
  @CsvSource({"sh, KILL", "sh, QUIT", "bash, QUIT"})
  void scriptKilledWhileItWaits_noChildRunsAndItsKeeperEnds(
      String shell, String signal, RedisNodes nodes) throws Exception {
    try (Wrapper holder = holding(nodes, "a");
        Wrapper waiter = Wrapper.run(List.of(shell), folder, nodes, "a", "--", "echo", "ran")) {
      await().atMost(DEADLINE).until(() -> isQueued(nodes));
      waiter.signal(signal);
      assertThat(waiter.exitCode()).isEqualTo(128 + NUMBERS.get(signal));
      await().atMost(DEADLINE).until(() -> waiter.keeper().isEmpty());
      holder.signal("TERM");
      assertThat(codeOf(nodes, "-w", "10s", "a", "--", "true")).isZero();
      assertThat(waiter.out()).isEmpty();
    }
  }

  @Test
  void runWithinARunOfTheSameName_saysSo(RedisNodes nodes) throws Exception {
    String[] outer = {"a", "--", Installed.FOLDER.resolve("redlock").toString(), "run"};
    String[] inner = "--restart-guard OFF --connect 60s -w 2s a -- true".split(" ", -1);
    try (Wrapper wrapper = Wrapper.run(folder, nodes, with(outer, inner))) {
      assertThat(wrapper.exitCode()).isEqualTo(75);
      assertThat(wrapper.err()).contains("started under it");
    }
  }

  @Test
  void waitForSeveralLocks_saysWhichOneIsHeld(RedisNodes nodes) throws Exception {
    try (Wrapper holder = holding(nodes, "b");
        Wrapper waiter = Wrapper.run(folder, nodes, "-v", "a", "b", "--", "true")) {
      await().atMost(DEADLINE).until(() -> waiter.err().contains("waits: 'b' is held"));
      assertThat(holder.isAlive()).isTrue();
    }
  }

  /** The child of an operator's break gets KILL, its trap is in vain. */
  @ParameterizedTest
  @ValueSource(strings = {"a process", "process 1", "a run within a run"})
  void lockBroken_childAndItsTreeAreKilledAtOnce(String what, RedisNodes nodes) throws Exception {
    Path beats = folder.resolve("beats");
    Path status = folder.resolve("status");
    String[] run = {"--status", status.toString(), "a", "--"};
    String script = Installed.FOLDER.resolve("redlock").toString();
    String[] within = {script, "run", "--restart-guard", "OFF", "--connect", "60s", "b", "--"};
    String[] all = with(what.endsWith("run") ? with(run, within) : run, forksOnTerm(beats));
    try (Wrapper wrapper =
        Wrapper.run(what.endsWith("1") ? asProcess1() : List.of(), folder, nodes, all)) {
      await().atMost(DEADLINE).until(() -> Files.exists(beats));
      try (Wrapper operator =
          Wrapper.start(
              folder,
              Map.of("REDLOCK_NODES", String.join(",", nodes.uris())),
              List.of("break", "--restart-guard", "OFF", "--yes", "a"))) {
        assertThat(operator.exitCode()).as(operator.err()).isZero();
      }
      assertThat(wrapper.exitCode()).isIn(143, 137);
      await().atMost(DEADLINE).until(() -> wrapper.err().contains("has ended"));
      assertThat(Files.readString(status)).startsWith("lost ");
      assertThat(wrapper.err()).contains("KILL at once");
      assertNothingBeats(beats);
    }
  }

  /** The kernel keeps KILL from process 1, and ends the keeper when process 1 ends. */
  @Test
  void process1_handsSignalsOnAndTheLockIsFreeWhenItEnds(RedisNodes nodes) throws Exception {
    String script = "trap 'exit 3' INT; echo up; while :; do sleep 0.05; done";
    try (Wrapper wrapper =
        Wrapper.run(asProcess1(), folder, nodes, "a", "--", "sh", "-c", script)) {
      await().atMost(DEADLINE).until(() -> wrapper.out().contains("up"));
      ProcessHandle.of(wrapper.pid()).orElseThrow().children().forEach(first -> interrupt(first));
      assertThat(wrapper.exitCode()).as(wrapper.err()).isEqualTo(3);
      assertThat(codeOf(nodes, "-n", "a", "--", "true")).isZero();
    }
  }

  @Test
  void process1_signalBeforeItHasAChild_endsIt(RedisNodes nodes) throws Exception {
    Path env = folder.resolve("env"); // It calls this program before.
    String waits = ": >in; until [ -e go ]; do sleep 0.05; done; exec /usr/bin/env \"$@\"";
    Files.writeString(env, "#!/bin/sh\ncd " + folder + "\n" + waits + "\n");
    assertThat(env.toFile().setExecutable(true)).isTrue();
    String[] slow = {"sh", "-c", "PATH=" + folder + ":$PATH exec \"$0\" \"$@\""};
    List<String> process1 = List.of(with(asProcess1().toArray(String[]::new), slow));
    try (Wrapper wrapper = Wrapper.run(process1, folder, nodes, "a", "--", "echo", "ran")) {
      await().atMost(DEADLINE).until(() -> Files.exists(folder.resolve("in")));
      ProcessHandle.of(wrapper.pid()).orElseThrow().children().forEach(ProcessHandle::destroy);
      Files.createFile(folder.resolve("go"));
      assertThat(wrapper.exitCode()).isEqualTo(143);
      assertThat(wrapper.out() + wrapper.err()).isEmpty();
    }
  }

  @Test
  void process1_waitsForOrphans(RedisNodes nodes) throws Exception {
    String script = "(sleep 0.2 &); sleep 1; cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z '";
    try (Wrapper wrapper =
        Wrapper.run(asProcess1(), folder, nodes, "a", "--", "sh", "-c", script)) {
      assertThat(wrapper.exitCode()).as(wrapper.err()).isEqualTo(1);
      assertThat(wrapper.out()).isEqualTo("0\n");
    }
  }

  private static void interrupt(ProcessHandle process) {
    try {
      Wrapper.signal("INT", process.pid());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static List<String> asProcess1() throws IOException, InterruptedException {
    List<String> unshare = List.of("unshare", "--pid", "--fork", "--kill-child", "--mount-proc");
    Process trial = new ProcessBuilder(with(unshare.toArray(String[]::new), "true")).start();
    assumeThat(trial.waitFor()).as("exit code of unshare, which needs root").isZero();
    return unshare;
  }

  /** As with {@code sudo}: who started the command may not signal it. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void childOfAnotherUser_whenTheLockIsLost_isNamedAndNotCalledGone(
      boolean killed, RedisNodes nodes) throws Exception {
    Path here = Files.createDirectory(folder.resolve("here"));
    String begin = "cd " + here + "\n" + SetUid.PREPARE + "touch status; chmod 666 status; shift\n";
    List<String> asUser = List.of("bash", "-c", begin + "exec $as ./redlock \"$@\"", "bash");
    String script = "echo up; until [ -e go ]; do sleep 0.05; done";
    String[] run = {"--lease", LOST_LEASE, "--status", "status", "a", "--"};
    try (Wrapper wrapper =
        Wrapper.run(asUser, folder, nodes, with(run, "./suid", "sh", "-c", script))) {
      await().atMost(DEADLINE).until(() -> wrapper.out().contains("up") || !wrapper.isAlive());
      assumeThat(wrapper.out()).doesNotContain("needs ");
      if (killed) {
        wrapper.keeper().orElseThrow().destroyForcibly();
      } else {
        nodes.forEach(node -> node.gate().dropRequests());
      }
      String named = wrapper.pid() + " (sh)";
      await().atMost(DEADLINE).until(() -> wrapper.err().contains(named));
      nodes.endFaults();
      assertThat(codeOf(nodes, "-w", "60s", "a", "--", "true")).isZero();
      assertThat(wrapper.isAlive()).isTrue();
      assertThat(wrapper.keeper().isPresent()).isNotEqualTo(killed);
      assertThat(Files.readString(here.resolve("status"))).startsWith("lost ");
      assertThat(wrapper.err().lines()).hasSize(2).last().asString().contains("cannot end", named);

      Files.createFile(here.resolve("go"));
      assertThat(wrapper.exitCode()).isZero();
      await().atMost(DEADLINE).until(() -> wrapper.err().contains("has ended"));
    }
  }

  /** As with {@code hidepid=2}: who started the command does not see it then. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void childOfAnotherUser_thatProcHides_keepsTheLockOrIsNamed(boolean killed, RedisNodes nodes)
      throws Exception {
    Path here = Files.createDirectory(folder.resolve("here"));
    String begin =
        "mount -o remount,hidepid=2 /proc || { echo needs hidepid; exit; }\ncd " + here + "\n";
    String files = SetUid.PREPARE + "touch status; chmod 666 status; shift\n";
    String[] bash = {"bash", "-c", begin + files + "exec $as ./redlock \"$@\"", "bash"};
    List<String> asUser = List.of(with(asProcess1().toArray(String[]::new), bash));
    String script = "echo up $$; until [ -e go ]; do sleep 0.05; done";
    String[] run = {"--lease", LOST_LEASE, "--status", "status", "a", "--"};
    try (Wrapper wrapper =
        Wrapper.run(asUser, folder, nodes, with(run, "./suid", "sh", "-c", script))) {
      await().atMost(DEADLINE).until(() -> wrapper.out().contains("up") || !wrapper.isAlive());
      assumeThat(wrapper.out()).doesNotContain("needs ");
      if (killed) {
        Set<ProcessHandle> own =
            ProcessHandle.of(wrapper.pid()).orElseThrow().descendants().collect(toSet());
        Installed.helpers("-Dredlock.child=")
            .filter(own::contains)
            .forEach(ProcessHandle::destroyForcibly);
        String named = "cannot end " + wrapper.out().substring(3).strip() + " (hidden)";
        await().atMost(DEADLINE).until(() -> wrapper.err().contains(named));
        assertThat(Files.readString(here.resolve("status"))).startsWith("lost ");
      } else {
        assertThat(codeOf(nodes, "-w", "1s", "a", "--", "true")).isEqualTo(75);
      }
      Files.createFile(here.resolve("go"));
      assertThat(wrapper.exitCode()).as(wrapper.err()).isZero();
      assertThat(codeOf(nodes, "-w", "60s", "a", "--", "true")).isZero();
    }
  }

  /** Another client holds the lock meanwhile, as the documents say. */
  @Test
  void keeperStopped_endsTheCommandWhenItGoesOn(RedisNodes nodes) throws Exception {
    Path status = folder.resolve("status");
    try (Wrapper wrapper = holding(nodes, "a", "--lease", "4s", "--status", status.toString())) {
      long keeper = wrapper.keeper().orElseThrow().pid();
      Wrapper.signal("STOP", keeper);
      assertThat(codeOf(nodes, "-w", "60s", "a", "--", "true")).isZero();
      assertThat(wrapper.isAlive()).isTrue();
      Wrapper.signal("CONT", keeper);
      assertThat(wrapper.exitCode()).isIn(143, 137);
      await().atMost(DEADLINE).until(() -> wrapper.keeper().isEmpty());
      assertThat(Files.readString(status)).startsWith("lost ");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void standardErrorThatIsFull_delaysNeitherTermNorKill(boolean killed, RedisNodes nodes)
      throws Exception {
    String full = "exec 2> >(exec sleep 99); head -c 65536 /dev/zero >&2; exec \"$0\" \"$@\"";
    Path beats = folder.resolve("beats");
    String[] run = {"-v", "--lease", LOST_LEASE, "a", "--"};
    try (Wrapper wrapper =
        Wrapper.run(List.of("bash", "-c", full), folder, nodes, with(run, forksOnTerm(beats)))) {
      await().atMost(DEADLINE).until(() -> Files.exists(beats));
      nodes.forEach(node -> node.gate().dropRequests());
      long expiresMillis = lastExpiryMillis(nodes, "a");
      if (killed) {
        wrapper.keeper().orElseThrow().destroyForcibly();
      }
      assertThat(wrapper.exitCode()).isIn(143, 137);
      await().atMost(DEADLINE).until(() -> wrapper.keeper().isEmpty());
      await().atMost(DEADLINE).until(() -> wrapper.watchdog().isEmpty());
      assertThat(lastBeatMillis(beats)).isLessThan(expiresMillis);
    }
  }

  /** The keeper, the watchdog, or the process that waits for the lock and becomes the child. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = {"keeper", "watchdog", "child"})
  void processKilledAtARandomInstant_childIsGoneBeforeTheLeaseEndsAndTheLockIsFree(
      String which, RedisNodes nodes) throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    // A watchdog that is killed changes nothing, so the lock must not be lost for another reason.
    String lease = which.equals("watchdog") ? "30s" : LOST_LEASE;
    for (int i = 0; i < INSTANTS; i++) {
      String name = which + "-" + i;
      Path beats = folder.resolve(name);
      String script =
          "n=0; while [ $((n += 1)) -lt 30 ]; do date +%s%N >> " + beats + "; sleep 0.02; done";
      try (Wrapper wrapper =
          Wrapper.run(folder, nodes, "--lease", lease, name, "--", "sh", "-c", script)) {
        Thread.sleep(random.nextInt(1_500));
        Optional<ProcessHandle> victim =
            switch (which) {
              case "keeper" -> wrapper.keeper();
              case "watchdog" -> wrapper.watchdog();
              default -> ProcessHandle.of(wrapper.pid());
            };
        long expiresMillis = lastExpiryMillis(nodes, name);
        victim.ifPresent(ProcessHandle::destroyForcibly);
        String run = "seed " + seed + ", run " + i + ": " + wrapper.exitCode() + wrapper.err();
        if (which.equals("watchdog")) {
          assertThat(wrapper.exitCode()).as(run).isZero();
        } else if (Files.exists(beats) && wrapper.exitCode() != 0) {
          assertThat(lastBeatMillis(beats)).as(run).isLessThan(expiresMillis);
        }
        assertThat(codeOf(nodes, "-w", "60s", name, "--", "true")).as(run).isZero();
      }
    }
  }

  private static void assertNothingBeats(Path beats) throws Exception {
    long size = Files.size(beats);
    Thread.sleep(200); // Ten beats.
    assertThat(Files.size(beats)).isEqualTo(size);
  }

  /**
   * A command that writes the time again and again. At TERM its inner part starts a process, which
   * goes on, and ends.
   */
  private static String[] forksOnTerm(Path beats) {
    String beat = "while :; do date +%s%N >> " + beats + "; sleep 0.02; done";
    return new String[] {
      "sh",
      "-c",
      "sh -c \"trap '(trap : TERM; " + beat + ") & exit' TERM; " + beat + "\"; echo done"
    };
  }

  private static long lastBeatMillis(Path beats) throws IOException {
    List<String> all = Files.readAllLines(beats);
    return all.isEmpty() ? 0 : Long.parseLong(all.get(all.size() - 1)) / 1_000_000;
  }

  private static String[] with(String[] before, String... after) {
    return Stream.concat(Arrays.stream(before), Arrays.stream(after)).toArray(String[]::new);
  }

  @Tag("thorough")
  @Test
  void childIgnoresTermOrForks_leaseCannotBeExtended_treeIsGoneBeforeTheKeysExpire(RedisNodes nodes)
      throws Exception {
    for (int i = 0; i < LOSSES; i++) {
      String name = "lost-" + i;
      Path beats = folder.resolve(name);
      // Its last beat tells when it ended. The shell ignores TERM, its sleep inherits that.
      String ignores = "trap '' TERM; while :; do date +%s%N >> " + beats + "; sleep 0.01; done";
      String[] scripts = {ignores, "(" + ignores + ") & " + ignores, forksOnTerm(beats)[2]};
      try (Wrapper wrapper =
          Wrapper.run(
              folder, nodes, "--lease", LOST_LEASE, name, "--", "sh", "-c", scripts[i % 3])) {
        await().atMost(DEADLINE).until(() -> Files.exists(beats));
        // The masters still run: what they store tells when another client could hold the lock.
        nodes.forEach(node -> node.gate().dropRequests());
        long expiresMillis = lastExpiryMillis(nodes, name);
        assertThat(wrapper.exitCode()).isIn(137, 143);
        await().atMost(DEADLINE).until(() -> wrapper.keeper().isEmpty());
        long lastMillis = lastBeatMillis(beats);
        assertThat(lastMillis).as("run %d: %s", i, wrapper.err()).isLessThan(expiresMillis);
        assertThat(wrapper.err()).contains("TERM").contains("is gone");
      }
      nodes.endFaults();
    }
  }

  private static long lastExpiryMillis(RedisNodes nodes, String name) {
    return nodes.stream()
        .mapToLong(node -> expiryMillis(node, name))
        .sorted()
        .skip(1)
        .min()
        .orElseThrow();
  }

  private static long expiryMillis(RedisNode node, String name) {
    return node.keys().stream()
        .map(RedisKey::name)
        .filter(key -> key.contains(name))
        .mapToLong(key -> System.currentTimeMillis() + (Long) node.command("PTTL", key))
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private static boolean isQueued(RedisNodes nodes) {
    return nodes.stream()
        .anyMatch(n -> n.keys().stream().anyMatch(k -> k.name().contains(":queue")));
  }

  private Wrapper holding(RedisNodes nodes, String name, String... options) throws Exception {
    String[] child = {name, "--", "sh", "-c", "echo up; exec sleep 600"};
    Wrapper wrapper = Wrapper.run(folder, nodes, with(options, child));
    await().atMost(DEADLINE).until(() -> wrapper.out().contains("up"));
    return wrapper;
  }

  private int codeOf(RedisNodes nodes, String... args) throws IOException, InterruptedException {
    try (Wrapper wrapper = Wrapper.run(folder, nodes, args)) {
      return wrapper.exitCode();
    }
  }
}
