package dev.redlock.cli.run;

import dev.redlock.testkit.RedisNodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The installed command, without a terminal. What it prints goes to files. */
public final class Wrapper implements AutoCloseable {
  private static final long DEADLINE_SECONDS = 300;

  private final Process process;
  private final Path out;
  private final Path err;

  private Wrapper(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  /** Starts it on these nodes, without a restart guard: they have just started. */
  static Wrapper run(Path folder, RedisNodes nodes, String... args) throws IOException {
    return run(List.of(), folder, nodes, args);
  }

  /** As before, behind another program, which may have become the command by exec. */
  static Wrapper run(List<String> behind, Path folder, RedisNodes nodes, String... args)
      throws IOException {
    List<String> all = new ArrayList<>(List.of("run", "--restart-guard", "OFF"));
    if (!Arrays.asList(args).contains("--connect")) {
      all.addAll(List.of("--connect", "60s")); // A busy machine connects late.
    }
    all.addAll(Arrays.asList(args));
    return start(behind, folder, Map.of("REDLOCK_NODES", String.join(",", nodes.uris())), all);
  }

  /** Starts it with these variables. */
  public static Wrapper start(Path folder, Map<String, String> environment, List<String> args)
      throws IOException {
    return start(List.of(), folder, environment, args);
  }

  private static Wrapper start(
      List<String> behind, Path folder, Map<String, String> environment, List<String> args)
      throws IOException {
    List<String> command = new ArrayList<>(behind);
    command.add(Installed.FOLDER.resolve("redlock").toString());
    command.addAll(args);
    Path out = Files.createTempFile(folder, "out", "");
    Path err = Files.createTempFile(folder, "err", "");
    ProcessBuilder builder =
        Installed.process(folder, System.getProperty("java.home"), command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().putAll(environment);
    return new Wrapper(builder.start(), out, err);
  }

  long pid() {
    return process.pid();
  }

  /** The JVM that holds the lock. */
  Optional<ProcessHandle> keeper() {
    return Installed.helpers("-Dredlock.child=" + process.pid() + " ").findFirst();
  }

  /** The shell that ends the child if the keeper is killed. */
  Optional<ProcessHandle> watchdog() {
    return Installed.helpers(" _watch " + process.pid() + " ").findFirst();
  }

  /** Ends its standard input. */
  void closeInput() throws IOException {
    process.getOutputStream().close();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Sends it a signal. */
  public void signal(String name) throws IOException, InterruptedException {
    signal(name, process.pid());
  }

  static void signal(String name, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + pid)
        .inheritIO()
        .start()
        .waitFor();
  }

  /** Waits for its end. */
  public int exitCode() throws InterruptedException, IOException {
    if (!process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)) {
      throw new AssertionError("still runs after " + DEADLINE_SECONDS + " s: " + err());
    }
    return process.exitValue();
  }

  /** Its standard output until now. */
  public String out() throws IOException {
    return Files.readString(out);
  }

  /** Its standard error until now. */
  public String err() throws IOException {
    return Files.readString(err);
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
