package dev.redlock.it.failures;

import java.io.IOException;
import java.time.Duration;

/** Stops this process with SIGSTOP for some time. */
final class OwnPause {
  private OwnPause() {}

  /** Starts a child process that stops its parent, waits, and continues it. */
  static Process begin(Duration length) throws IOException {
    long pid = ProcessHandle.current().pid();
    long millis = length.toMillis();
    String script = "kill -STOP %d; sleep %d.%03d; kill -CONT %d";
    return new ProcessBuilder("sh", "-c", script.formatted(pid, millis / 1000, millis % 1000, pid))
        .start();
  }
}
