package dev.redlock.cli.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.redlock.testkit.RedisNodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command as users have it: the start script and the jar, copied into one folder. */
class InstalledIT {
  private static final long DEADLINE_SECONDS = 300;

  /** The first starts write the archive of classes, if there is none, and are not measured. */
  private static final int WARM_UP = 3;

  private static final int STARTS = Integer.getInteger("redlock.cli.starts", 5);

  private static RedisNodes nodes;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    nodes = RedisNodes.builder().count(3).password("of the servers").start();
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @BeforeEach
  void configure() throws IOException {
    Files.write(folder.resolve("password"), List.of("of the servers"));
    Path file = Files.createDirectories(folder.resolve(".config/redlock")).resolve("nodes");
    List<String> lines = new ArrayList<>();
    nodes.forEach(node -> lines.add("redis://127.0.0.1:" + node.port()));
    lines.add("password-file = " + folder.resolve("password"));
    Files.write(file, lines);
  }

  @Test
  void pipes_areThoseOfTheChild() throws Exception {
    assertThat(
            shell("printf abc | redlock run --connect 60s --restart-guard OFF a -- cat | tr b x"))
        .isEqualTo("axc");
  }

  /**
   * {@code "$n"} has letters that are not ASCII, written so that no program in between needs them.
   */
  @Test
  void withoutALocale_namesAndArgumentsAreThoseThatWereGiven() throws Exception {
    String name = "n=$(printf '\\303\\274n\\303\\257'); unset LANG LC_CTYPE; export LC_ALL=C;";
    String print = "sh -c 'printf \"%s %s %s\" \"$REDLOCK_NAME\" \"$1\" \"$LC_ALL\"' x \"a$n\"";
    assertThat(shell(name + "redlock run --connect 60s --restart-guard OFF \"$n\" -- " + print))
        .isEqualTo("ünï aünï C");
  }

  @Test
  void outputThatCannotBeWritten_isNoSuccess() throws Exception {
    // The first program that uses the masters writes the record of their set.
    String used = "redlock run --connect 60s --restart-guard OFF a -- true;";
    assertThat(shell(used + "redlock nodes --restart-guard OFF 2>&1 >/dev/full; echo $?"))
        .isEqualTo("redlock: the output cannot be written\n74\n");
  }

  @Test
  void limitOfCpuTime_isForTheCommandAlone() throws Exception {
    String limits =
        "for p in /proc/[0-9]*; do if grep -qs redlock.child=$$ $p/cmdline; then"
            + " grep cpu $p/limits; fi; done; ulimit -t";
    String run = "redlock run --connect 60s --restart-guard OFF a -- sh -c '" + limits + "'";
    assertThat(shell("ulimit -S -t 99; " + run))
        .matches("Max cpu time +(\\S+) +\\1 +seconds *\n99\n");
  }

  @Test
  void watch_whoseReaderHasEnded_endsWithTheNextChange() throws Exception {
    String watch = "(redlock watch --restart-guard OFF b; echo $? >code) 2>/dev/null | head -1";
    String change = "redlock run --connect 60s --restart-guard OFF b -- true";
    assertThat(shell(watch + " >line & until [ -s line ]; do sleep 0.1; done;" + change)).isEmpty();
    assertThat(shell("until [ -s code ]; do sleep 0.1; done; cat code")).isEqualTo("74\n");
  }

  /** Unlike the other commands it needs a module of the JDK that only the class path sees. */
  @Test
  void page_isServed() throws Exception {
    String served =
        ": >page; redlock serve --port 0 >page & for i in $(seq 300); do"
            + " if read url <page; then break; fi; sleep 0.1; done; kill $!; echo \"$url\"";
    assertThat(shell(served)).startsWith("http://127.0.0.1:");
  }

  @Test
  void script_calledThroughALink_findsTheJar() throws Exception {
    assertThat(shell("ln -s " + Installed.FOLDER + "/redlock here && ./here --version && rm here"))
        .startsWith("redlock ");
  }

  @Test
  void jarThatIsAbsent_isSaid() throws Exception {
    assertThat(shell("cp " + Installed.FOLDER + "/redlock alone && ./alone --version; echo $?"))
        .isEqualTo("redlock: there is no redlock.jar beside ./alone\n127\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"truncate -s 3000000 cache/*.jsa", "chmod 500 cache; rm -f cache/*.jsa"})
  void archiveThatIsDamaged_changesNeitherOutputNorExitCode(String damage) throws Exception {
    String run =
        "redlock run --connect 60s --restart-guard OFF a -- sh -c 'echo ran; exit 7'; echo $?;";
    String begin = "export REDLOCK_CACHE=$PWD/cache;";
    String wait = "for i in $(seq 600); do [ -e cache/*_.jsa ] && break; sleep 0.1; done;";
    assertThat(shell(begin + run + wait + "chmod 600 cache/*.jsa;" + damage + ";" + run + run))
        .isEqualTo("ran\n7\nran\n7\nran\n7\n");
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "truncate -s 0 cache/*.jsa",
        "for n in 100 5000 900000 4000000 9000000; do printf damage |"
            + " dd of=$(echo cache/*.jsa) bs=1 seek=$n conv=notrunc 2>/dev/null; done",
        "chmod 000 cache/*.jsa"
      })
  void archiveThatIsDamagedElse_changesNeitherOutputNorExitCode(String damage) throws Exception {
    archiveThatIsDamaged_changesNeitherOutputNorExitCode(damage);
  }

  @Test
  void askPassword_isReadFromTheTerminal_andNotShown() throws Exception {
    assumeThat(shell("command -v script || :")).as("the program script").isNotEmpty();
    Files.delete(folder.resolve("password"));

    String typed = "sleep 2; echo 'of the servers'; while sleep 0.2; do echo; done 2>/dev/null";
    String line = "redlock run --connect 60s --restart-guard OFF --ask-password a -- echo done";
    assertThat(shell("(" + typed + ") | script -qec \"" + line + "\" /dev/null"))
        .contains("Redis password:", "done")
        .doesNotContain("of the servers");
  }

  @Test
  void completion_ofBash_offersCommandsAndOptions() throws Exception {
    String complete =
        "source <(redlock completion); compopt() { :; };" // It works in a completion only.
            + " COMP_WORDS=(redlock ins); COMP_CWORD=1; _complete_redlock;"
            + " echo \"${COMPREPLY[@]}\";"
            + " COMP_WORDS=(redlock run --gr); COMP_CWORD=2; _complete_redlock;"
            + " echo \"${COMPREPLY[@]}\";"
            + " COMP_WORDS=(redlock nodes rep); COMP_CWORD=2; _complete_redlock;"
            + " echo \"${COMPREPLY[@]}\"";
    assertThat(shell(complete)).isEqualTo("inspect\n--grace\nreplace\n");
  }

  /** On a quiet machine the bar is 500 ms. A busy one takes longer; the figure is for people. */
  @Test
  void start_onAFreeLock_ofAKeeperThatHoldsIn120Megabytes() throws Exception {
    String run = "redlock run --connect 60s --restart-guard OFF a -- echo hello";
    for (int i = 0; i < WARM_UP; i++) {
      assertThat(shell(run)).isEqualTo("hello\n");
    }
    // By the shell itself: to start a process from this large one takes long.
    String took =
        "a=$EPOCHREALTIME; read line < <("
            + run
            + "); b=$EPOCHREALTIME; echo $((${b/[.,]} - ${a/[.,]}))";
    long[] locked = new long[STARTS];
    for (int i = 0; i < STARTS; i++) {
      locked[i] = Long.parseLong(shell(took).strip());
    }
    String resident =
        shell(
            "redlock run --connect 60s --restart-guard OFF a -- sh -c 'for p in /proc/[0-9]*; do if grep -qs"
                + " Dredlock.child=$$ $p/cmdline; then grep VmRSS $p/status; fi; done'");
    System.out.printf(
        Locale.ROOT, "first lock after %d ms; %s%n", median(locked) / 1_000, resident.strip());
    assertThat(Long.parseLong(resident.replaceAll("\\D+", ""))).isLessThan(120 * 1024);
  }

  private static long median(long[] values) {
    long[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** What the line prints on both streams. */
  private String shell(String line) throws Exception {
    Process process = start(line);
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    finish(process);
    return out;
  }

  private static void finish(Process process) throws InterruptedException {
    if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      throw new AssertionError("still runs after " + DEADLINE_SECONDS + " s");
    }
  }

  private Process start(String line) throws IOException {
    return Installed.process(folder, System.getProperty("java.home"), List.of("bash", "-c", line))
        .directory(folder.toFile())
        .redirectErrorStream(true)
        .start();
  }
}
