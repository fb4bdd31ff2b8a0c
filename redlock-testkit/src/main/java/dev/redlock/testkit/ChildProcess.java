package dev.redlock.testkit;

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
 * A process of ours: it ends with this JVM at the latest, and can be stopped, continued and killed
 * by signal.
 *
 * <p>It begins as a shell that waits for a line on its standard input and only then becomes the
 * program, under the same process number. So the {@link Watchdog} knows the number before the
 * program runs, and there is no instant at which a killed JVM leaves the program behind.
 */
final class ChildProcess {

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Process process;

  // Written by pause and resume, read by anyone who asks for the state.
  private volatile boolean paused;

  private ChildProcess(Process process) {
    this.process = process;
  }

  /** Starts the builder's command; its standard input must be left a pipe. */
  static ChildProcess start(ProcessBuilder builder) throws IOException {
    List<String> command =
        new ArrayList<>(List.of("/bin/sh", "-c", "read -r go && exec \"$@\"", "redlock-child"));
    command.addAll(builder.command());
    Process process = builder.command(command).start();
    Watchdog.watch(process);
    process.getOutputStream().write("go\n".getBytes(StandardCharsets.US_ASCII));
    process.getOutputStream().flush();
    return new ChildProcess(process);
  }

  Process process() {
    return process;
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  boolean isPaused() {
    return paused && process.isAlive();
  }

  /** SIGKILL, also to a stopped process; returns when the process is gone. */
  void kill() {
    process.destroyForcibly();
    Waiting.until("process " + pid() + " is gone", PATIENCE, () -> !process.isAlive());
  }

  /** SIGSTOP; when this returns, no thread of the process runs. */
  void pause() {
    signal("STOP");
    Waiting.until("process " + pid() + " has stopped", PATIENCE, () -> !isAlive() || allStopped());
    paused = true;
  }

  /** SIGCONT. */
  void resume() {
    signal("CONT");
    paused = false;
  }

  /** The exit code, or empty if the process still runs after the given time. */
  Optional<Integer> awaitExit(Duration patience) {
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
      throw new IllegalStateException("Process " + pid() + " has ended, no SIG" + name + " sent");
    }
    try {
      // The shell's own kill: slim images have no such program.
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

  /** Reads every thread's state where there is a /proc; elsewhere the signal has to do. */
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
}
