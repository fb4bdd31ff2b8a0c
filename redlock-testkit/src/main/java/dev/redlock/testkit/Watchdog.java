package dev.redlock.testkit;

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
 * One shell process per JVM that kills what this JVM started once the JVM is gone, however it went.
 *
 * <p>A shutdown hook alone is not enough: it does not run when the JVM is killed. The shell reads
 * the numbers of our processes from a pipe whose other end only this JVM holds. At the end of that
 * pipe, which the operating system guarantees, it kills them (a stopped process dies of SIGKILL
 * too) and removes this JVM's temporary directory. It remembers when each process began, so that a
 * number which meanwhile belongs to another process is left alone.
 */
final class Watchdog {

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
      throw new UncheckedIOException("Cannot start the shell that ends our processes", e);
    }
    orders = shell.getOutputStream();
    Runtime.getRuntime().addShutdownHook(new Thread(this::end, "redlock-testkit-end"));
  }

  /** Where this JVM's nodes keep their files; removed when the JVM has ended. */
  static Path directory() {
    return INSTANCE.directory;
  }

  /** From now on the process ends with this JVM. */
  static void watch(Process process) {
    INSTANCE.add(process);
    var unused = process.onExit().thenAccept(INSTANCE::remove);
  }

  /** From now on the container ends with this JVM, where the {@code docker} command is at hand. */
  static void watchContainer(String id) {
    INSTANCE.order("c " + id);
  }

  private synchronized void add(Process process) {
    watched.add(process);
    order("+ " + process.pid());
  }

  private synchronized void remove(Process process) {
    watched.remove(process);
    order("- " + process.pid());
  }

  private synchronized void order(String line) {
    try {
      orders.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      orders.flush();
    } catch (IOException e) {
      if (shell.isAlive()) {
        throw new UncheckedIOException("Cannot tell the shell that ends our processes", e);
      } // else somebody killed it or we are ending: the shutdown hook is what remains
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
      // The shell is gone; what it would have killed is killed already.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
