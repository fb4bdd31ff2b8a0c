package dev.redlock.testkit.internal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A process that this JVM started. It ends when this JVM ends, at the latest, and can be stopped,
 * continued and killed by signal.
 *
 * <p>It starts as a shell that waits for a line on its standard input. Then the shell replaces
 * itself by the program and keeps the process id. So the {@link Watchdog} knows the process id
 * before the program runs, and a JVM that is killed at any moment leaves no program behind.
 */
public final class ChildProcess {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Process process;

  // Written by pause and resume, read by any thread that asks for the state.
  private volatile boolean paused;

  private ChildProcess(Process process) {
    this.process = process;
  }

  /** Starts the builder's command. The builder must not redirect standard input. */
  public static ChildProcess start(ProcessBuilder builder) throws IOException {
    List<String> command =
        new ArrayList<>(List.of("/bin/sh", "-c", "read -r go && exec \"$@\"", "redlock-child"));
    command.addAll(builder.command());
    Process process = builder.command(command).start();
    Watchdog.watch(process);
    process.getOutputStream().write("go\n".getBytes(StandardCharsets.US_ASCII));
    process.getOutputStream().flush();
    return new ChildProcess(process);
  }

  public Process process() {
    return process;
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  public boolean isPaused() {
    return paused && process.isAlive();
  }

  /** Kills the process (SIGKILL), also a stopped one. When this returns, the process has ended. */
  public void kill() {
    process.destroyForcibly();
    Waiting.until(() -> this + " has ended", PATIENCE, () -> !process.isAlive());
  }

  /** Stops the process (SIGSTOP). When this returns, no thread of the process runs. */
  public void pause() {
    signal("STOP");
    Waiting.until("process " + pid() + " has stopped", PATIENCE, () -> !isAlive() || allStopped());
    paused = true;
  }

  /** Continues the process (SIGCONT). */
  public void resume() {
    signal("CONT");
    paused = false;
  }

  /** The exit code, or empty if the process still runs after the given time. */
  public Optional<Integer> awaitExit(Duration patience) {
    try {
      boolean ended = process.waitFor(patience.toNanos(), TimeUnit.NANOSECONDS);
      return ended ? Optional.of(process.exitValue()) : Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while waiting for process " + pid(), e);
    }
  }

  private void signal(String name) {
    if (!process.isAlive()) {
      throw new IllegalStateException(
          "Process " + pid() + " has ended; SIG" + name + " was not sent");
    }
    try {
      // The kill that is built into the shell: slim images have no kill program.
      Process kill =
          new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + pid())
              .redirectErrorStream(true)
              .start();
      String complaint = new String(kill.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Waiting.until("SIG" + name + " is sent", PATIENCE, () -> !kill.isAlive());
      if (kill.exitValue() != 0) {
        throw new IllegalStateException("SIG" + name + " to " + pid() + " failed: " + complaint);
      }
    } catch (IOException e) {
      throw new IllegalStateException("SIG" + name + " to " + pid() + " failed", e);
    }
  }

  /**
   * Reads the state of every thread if there is a /proc; elsewhere assumes that the signal was
   * effective.
   */
  private boolean allStopped() {
    Path tasks = Path.of("/proc", Long.toString(pid()), "task");
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        String stat = Files.readString(thread.resolve("stat"), StandardCharsets.ISO_8859_1);
        if ("TtZX".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) < 0) {
          return false;
        }
      }
      return true;
    } catch (IOException e) {
      return !Files.isDirectory(tasks);
    }
  }

  /** With what the kernel says of it. */
  @Override
  public String toString() {
    try {
      return "process "
          + Files.readString(Path.of("/proc/" + pid() + "/stat"), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "process " + pid();
    }
  }
}
