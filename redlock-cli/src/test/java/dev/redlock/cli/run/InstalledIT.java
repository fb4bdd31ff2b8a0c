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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as users have it: the start script and the jar, copied into one folder. */
class InstalledIT {
  private static final long DEADLINE_SECONDS = 60;

  /** The first starts write the archive of classes, and are not measured. */
  private static final int WARM_UP = 3;

  private static final int STARTS = Integer.getInteger("redlock.cli.starts", 5);

  private static RedisNodes nodes;

  @TempDir static Path installed;
  @TempDir Path folder;

  @BeforeAll
  static void install() throws IOException {
    Path jar = Path.of(System.getProperty("redlock.cli.jar"));
    Path script = jar.resolve("../../../../bin/redlock").normalize();
    Files.copy(jar, installed.resolve("redlock.jar"));
    Files.copy(script, installed.resolve("redlock"));
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
    assertThat(shell("printf abc | redlock run --restart-guard OFF a -- cat | tr b x"))
        .isEqualTo("axc");
  }

  /**
   * {@code "$n"} has letters that are not ASCII, written so that no program in between needs them.
   */
  @Test
  void withoutALocale_namesAndArgumentsAreThoseThatWereGiven() throws Exception {
    String name = "n=$(printf '\\303\\274n\\303\\257'); unset LANG LC_CTYPE; export LC_ALL=C;";
    String print = "sh -c 'printf \"%s %s %s\" \"$REDLOCK_NAME\" \"$1\" \"$LC_ALL\"' x \"a$n\"";
    assertThat(shell(name + "redlock run --restart-guard OFF \"$n\" -- " + print))
        .isEqualTo("ünï aünï C");
  }

  @Test
  void outputThatCannotBeWritten_isNoSuccess() throws Exception {
    assertThat(shell("redlock nodes --restart-guard OFF 2>&1 >/dev/full; echo $?"))
        .isEqualTo("redlock: the output cannot be written\n74\n");
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
    assertThat(shell("ln -s " + installed + "/redlock here && ./here --version && rm here"))
        .startsWith("redlock ");
  }

  @Test
  void jarThatIsAbsent_isSaid() throws Exception {
    assertThat(shell("cp " + installed + "/redlock alone && ./alone --version; echo $?"))
        .isEqualTo("redlock: there is no redlock.jar beside ./alone\n127\n");
  }

  /** It holds few classes, and would keep later starts slow until the jar changes. */
  @Test
  void archiveOfARunThatFailed_isRemoved() throws Exception {
    String cache = "export REDLOCK_CACHE=$PWD/cache; mkdir cache;";
    String failed = "redlock run --nodes none a -- true 2>&1 | cut -c 1-16; ls cache | wc -l;";
    assertThat(shell(cache + failed + "redlock --version >/dev/null; ls cache"))
        .isEqualTo("redlock: 'none' \n1\n");
  }

  @Test
  void askPassword_isReadFromTheTerminal_andNotShown() throws Exception {
    assumeThat(shell("command -v script || :")).as("the program script").isNotEmpty();
    Files.delete(folder.resolve("password"));

    String typed = "sleep 2; echo 'of the servers'; sleep 30";
    String line = "redlock run --restart-guard OFF --ask-password a -- echo done";
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

  /**
   * How long the start takes, beside that of a Java program that prints one word. Both take longer
   * on a busy machine; the figures are for people.
   */
  @Test
  void start_onAFreeLock_takesAFewTimesThatOfHelloWorld_andHoldsIn120Megabytes() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Path classes = Path.of(Hello.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    String hello = java + " -cp " + classes + " " + Hello.class.getName();
    String run = "redlock run --restart-guard OFF a -- echo hello";
    for (int i = 0; i < WARM_UP; i++) {
      assertThat(shell(run)).isEqualTo("hello\n");
    }
    assertThat(folder.resolve(".cache/redlock")).isNotEmptyDirectory();
    // By the shell itself: to start a process from this large one takes longer than hello world.
    String took =
        "a=$EPOCHREALTIME; read line < <(%s); b=$EPOCHREALTIME; echo $((${b/[.,]} - ${a/[.,]}));";
    long[] plain = new long[STARTS];
    long[] locked = new long[STARTS];
    for (int i = 0; i < STARTS; i++) {
      String[] micros = shell(took.formatted(hello) + took.formatted(run)).split("\n");
      plain[i] = Long.parseLong(micros[0]);
      locked[i] = Long.parseLong(micros[1]);
    }
    double times = (double) median(locked) / median(plain);
    String resident =
        shell("redlock run --restart-guard OFF a -- sh -c 'grep VmRSS /proc/$PPID/status' || :");
    System.out.printf(
        Locale.ROOT,
        "start: hello world %d ms, redlock run %d ms, %.1f times; %s%n",
        median(plain) / 1_000,
        median(locked) / 1_000,
        times,
        resident.strip());

    assertThat(times).as("times the start of hello world").isLessThan(25);
    if (!resident.isEmpty()) {
      assertThat(Long.parseLong(resident.replaceAll("\\D+", ""))).isLessThan(120 * 1024);
    }
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
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-c", line).directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().keySet().removeIf(name -> name.startsWith("REDLOCK_"));
    builder.environment().remove("XDG_CACHE_HOME");
    builder.environment().remove("XDG_CONFIG_HOME");
    builder.environment().put("HOME", folder.toString());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().merge("PATH", installed.toString(), (old, ours) -> ours + ":" + old);
    return builder.start();
  }
}
