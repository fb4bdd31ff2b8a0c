package dev.redlock.cli.run;

import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The process that runs under the lock. It has the standard streams of this process. */
final class Child {
  private final Process process;

  /** Descendants that were seen. If their parent ends, the system no longer says whose they are. */
  private final Set<ProcessHandle> seen = new LinkedHashSet<>();

  private Child(Process process) {
    this.process = process;
  }

  /**
   * Starts the command, without a shell.
   *
   * @throws Failure with the exit code of a shell if it cannot start
   */
  static Child start(List<String> command, Map<String, String> variables) {
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    builder.environment().putAll(variables);
    restore(builder.environment());
    try {
      return new Child(builder.start());
    } catch (IOException e) {
      String why = String.valueOf(e.getMessage());
      boolean absent = why.contains("error=2,");
      throw new Failure(
          absent ? ExitCode.NOT_FOUND : ExitCode.CANNOT_START,
          "cannot start " + command.get(0) + ": " + why.replaceFirst(".*error=\\d+, ", ""));
    }
  }

  /** Takes back what the start script has set for this JVM alone. */
  private static void restore(Map<String, String> environment) {
    environment.remove("_JAVA_SR_SIGNUM");
    String locale = environment.remove("_REDLOCK_LC_ALL");
    if (locale != null) {
      environment.remove("LC_ALL");
      if (!locale.isEmpty()) {
        environment.put("LC_ALL", locale);
      }
    }
  }

  /** Waits for its end; the exit code is 128 and the number if a signal ended it. */
  int await() throws InterruptedException {
    return process.waitFor();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Sends a signal to the child alone, as a user does who knows its process id. */
  void signal(String name) {
    if (!process.isAlive()) {
      return;
    }
    if (name.equals("TERM")) {
      process.destroy();
      return;
    }
    try {
      // The JDK sends TERM and KILL only. Each POSIX shell has a kill of its own.
      new ProcessBuilder(
              "/bin/sh", "-c", "kill -s \"$0\" \"$1\"", name, String.valueOf(process.pid()))
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start();
    } catch (IOException e) {
      System.err.println("redlock: the signal " + name + " cannot be passed on: " + e.getMessage());
    }
  }

  /** TERM to the child and to its descendants. */
  void terminate() {
    process.descendants().forEach(seen::add);
    process.destroy();
    seen.forEach(ProcessHandle::destroy);
  }

  /** KILL to the child and to each descendant that was seen. The child first: it starts no more. */
  void kill() {
    process.descendants().forEach(seen::add);
    process.destroyForcibly();
    seen.forEach(ProcessHandle::destroyForcibly);
  }

  /** Whether the child or a descendant that was seen still runs. */
  boolean anyAlive() {
    return process.isAlive() || seen.stream().anyMatch(ProcessHandle::isAlive);
  }
}
