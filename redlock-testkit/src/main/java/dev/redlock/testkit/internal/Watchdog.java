package dev.redlock.testkit.internal;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * One shell process per JVM. When the JVM has ended, for whatever reason, the shell kills the
 * processes that the JVM started.
 *
 * <p>A shutdown hook alone is not enough: it does not run when the JVM is killed. The shell reads
 * the process ids from its standard input, whose other end only this JVM holds. When this JVM ends,
 * the operating system closes that input. The shell then kills the processes (SIGKILL also ends a
 * stopped process) and removes the JVM's temporary directory. It remembers the start time of each
 * process, so that it does not kill another process that reuses the id.
 */
public final class Watchdog {

  private static final String SCRIPT =
      """
      trap '' HUP INT QUIT TERM
      born() {
        if [ -r "/proc/$1/stat" ]; then
          IFS= read -r stat <"/proc/$1/stat" || return 1
          set -- ${stat##*) }
          shift 19
          echo "$1"
        else
          ps -o lstart= -p "$1" | tr -d ' '
        fi
      }
      watched=' '
      containers=
      while IFS=' ' read -r op arg; do
        case $op in
          +) watched="$watched$arg:$(born "$arg") " ;;
          -) case $watched in
               *" $arg:"*)
                 rest=${watched#*" $arg:"}
                 watched="${watched%%" $arg:"*} ${rest#* }" ;;
             esac ;;
          c) containers="$containers $arg" ;;
        esac
      done
      for entry in $watched; do
        pid=${entry%%:*}
        born=${entry#*:}
        [ -n "$born" ] && [ "$born" = "$(born "$pid")" ] && kill -KILL "$pid"
      done
      [ -n "$containers" ] && docker rm -f $containers
      rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }
      """;

  private static final Watchdog INSTANCE = new Watchdog();

  private final Path directory;
  private final Set<Process> watched = new LinkedHashSet<>();
  private final Process shell;
  private final OutputStream orders;

  private Watchdog() {
    try {
      directory = Files.createTempDirectory("redlock-" + ProcessHandle.current().pid() + "-");
      shell =
          new ProcessBuilder("/bin/sh", "-c", SCRIPT, "redlock-watchdog", directory.toString())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot start the watchdog shell", e);
    }
    orders = shell.getOutputStream();
    Runtime.getRuntime().addShutdownHook(new Thread(this::end, "redlock-testkit-end"));
  }

  /** The directory for the files of this JVM's nodes; removed when the JVM has ended. */
  public static Path directory() {
    return INSTANCE.directory;
  }

  /** Registers a process, which then ends with this JVM. */
  public static void watch(Process process) {
    INSTANCE.add(process);
    var unused = process.onExit().thenAccept(INSTANCE::remove);
  }

  /** Registers a container, which then ends with this JVM if the {@code docker} command exists. */
  public static void watchContainer(String id) {
    INSTANCE.send("c " + id);
  }

  private synchronized void add(Process process) {
    watched.add(process);
    send("+ " + process.pid());
  }

  private synchronized void remove(Process process) {
    watched.remove(process);
    send("- " + process.pid());
  }

  private synchronized void send(String line) {
    try {
      orders.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      orders.flush();
    } catch (IOException e) {
      if (shell.isAlive()) {
        throw new UncheckedIOException("Cannot write to the watchdog shell", e);
      } // else the shell was killed, or this JVM is ending: only the shutdown hook remains
    }
  }

  private void end() {
    synchronized (this) {
      watched.forEach(Process::destroyForcibly);
    }
    try {
      orders.close();
      shell.waitFor(5, TimeUnit.SECONDS);
    } catch (IOException e) {
      // The shell has ended, and has killed the processes already.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
