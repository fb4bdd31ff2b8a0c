package dev.redlock.harness;

import dev.redlock.internal.text.Printable;
import dev.redlock.testkit.internal.ChildProcess;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Another JVM with this JVM's class path, in a separate process, so that a test can kill and stop
 * it like a real worker. It ends when this JVM ends, at the latest, also if this JVM is killed.
 *
 * <p>A test reads its standard output line by line, or passes a consumer at the start. Its standard
 * error is copied to the standard error of this JVM, each line with its name in front. It inherits
 * the {@code redlock.*} system properties of this JVM and the setting of assertions. Safe from any
 * thread.
 */
public final class ForkedJvm implements AutoCloseable {

  private static final int REMEMBERED_ERRORS = 20;

  private final String name;
  private final ChildProcess process;

  /** A line of output; no text means the end of the output. */
  private record Line(Optional<String> text) {}

  // Written by the thread that reads the output of the process.
  private final BlockingQueue<Line> lines = new LinkedBlockingQueue<>();

  // The last lines of standard error, for messages. Guarded by its own monitor.
  private final Deque<String> errors = new ArrayDeque<>();

  private ForkedJvm(String name, ChildProcess process, @Nullable Consumer<String> onLine) {
    this.name = name;
    this.process = process;
    Consumer<String> reader =
        onLine == null ? line -> lines.add(new Line(Optional.of(line))) : onLine;
    pump(
        "out",
        process.process().getInputStream(),
        reader,
        () -> lines.add(new Line(Optional.empty())));
    pump("err", process.process().getErrorStream(), this::forwardError, () -> {});
  }

  /** Starts a JVM that runs the main method of a class, with these arguments. */
  public static ForkedJvm start(Class<?> main, String... args) {
    return of(main).args(args).start();
  }

  /** Returns a builder for a JVM that runs the main method of a class. */
  public static Builder of(Class<?> main) {
    return new Builder(main);
  }

  public long pid() {
    return process.pid();
  }

  /** Whether the process has not ended yet. A stopped process is alive. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Whether {@link #pause()} has stopped the process. */
  public boolean isPaused() {
    return process.isPaused();
  }

  /**
   * Returns the next line of its standard output.
   *
   * @throws IllegalStateException if no line arrives in time, or the process has ended; the message
   *     has its state and the last lines of its standard error
   */
  public String nextLine(Duration patience) {
    return awaitLine(line -> true, patience);
  }

  /**
   * Reads lines of its standard output until one matches, and returns that line.
   *
   * @throws IllegalStateException as for {@link #nextLine}
   */
  public String awaitLine(Predicate<String> wanted, Duration patience) {
    long start = System.nanoTime();
    while (true) {
      Optional<String> line = poll(patience.toNanos() - (System.nanoTime() - start));
      if (line.isEmpty()) {
        throw new IllegalStateException(
            "No matching line within " + Printable.of(patience) + " from " + describe());
      } else if (wanted.test(line.get())) {
        return line.get();
      }
    }
  }

  /** Empty if the time has passed or the output has ended. */
  private Optional<String> poll(long patienceNanos) {
    try {
      @Nullable Line line = lines.poll(patienceNanos, TimeUnit.NANOSECONDS);
      if (line == null) {
        return Optional.empty();
      } else if (line.text.isEmpty()) {
        lines.add(line); // keep the end for the next reader
      }
      return line.text;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while reading from " + describe(), e);
    }
  }

  /** Writes a line to its standard input. */
  public void send(String line) {
    try {
      process.process().getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      process.process().getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write to " + describe(), e);
    }
  }

  /**
   * Kills the process (SIGKILL), also a stopped one. When this returns, it has ended. Does nothing
   * if it has ended already.
   */
  public void kill() {
    process.kill();
  }

  /** Stops the process (SIGSTOP). When this returns, none of its threads runs. */
  public void pause() {
    process.pause();
  }

  /** Continues the process (SIGCONT). */
  public void resume() {
    process.resume();
  }

  /**
   * Waits until the process has ended, and returns its exit code: 137 if it was killed.
   *
   * @throws IllegalStateException if it does not end in time
   */
  public int awaitExit(Duration patience) {
    return process
        .awaitExit(patience)
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "Not ended within " + Printable.of(patience) + ": " + describe()));
  }

  /** Its state and the last lines of its standard error, for a failure message. */
  public String describe() {
    String state = isPaused() ? "paused" : isAlive() ? "running" : "ended";
    synchronized (errors) {
      return name + " (pid " + pid() + ", " + state + ") " + String.join("\n", errors);
    }
  }

  @Override
  public String toString() {
    return name + " (pid " + pid() + ")";
  }

  /** Kills it. */
  @Override
  public void close() {
    kill();
  }

  private void forwardError(String line) {
    System.err.println("[" + name + "] " + line);
    synchronized (errors) {
      errors.add(line);
      if (errors.size() > REMEMBERED_ERRORS) {
        errors.remove();
      }
    }
  }

  private void pump(String what, InputStream in, Consumer<String> reader, Runnable atEnd) {
    Thread thread =
        new Thread(
            () -> {
              try (BufferedReader source =
                  new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
                source.lines().forEach(reader);
              } catch (IOException | UncheckedIOException e) {
                // The process has ended, and its output with it.
              } finally {
                atEnd.run();
              }
            },
            "redlock-forked-" + name + "-" + what);
    thread.setDaemon(true);
    thread.start();
  }

  /** Configures a forked JVM. Not safe for use by several threads. */
  public static final class Builder {

    private final Class<?> main;
    private final Map<String, String> properties = new TreeMap<>();
    private String name;
    private List<String> args = List.of();
    private List<String> jvmArgs = List.of();
    private Path javaHome = Path.of(System.getProperty("java.home"));
    private @Nullable Consumer<String> onLine;

    private Builder(Class<?> main) {
      this.main = main;
      this.name = main.getSimpleName();
      System.getProperties().stringPropertyNames().stream()
          .filter(key -> key.equals("redlock") || key.startsWith("redlock."))
          .forEach(key -> properties.put(key, System.getProperty(key)));
    }

    /** Sets its name in messages. Default: the simple name of the class. */
    public Builder name(String name) {
      this.name = name;
      return this;
    }

    /** Sets the arguments of its main method. */
    public Builder args(String... args) {
      this.args = List.of(args);
      return this;
    }

    /** Sets options of the JVM, such as {@code -Xmx64m}. */
    public Builder jvmArgs(String... jvmArgs) {
      this.jvmArgs = List.of(jvmArgs);
      return this;
    }

    /** Sets the JDK that runs it. Default: the JDK of this process. */
    public Builder javaHome(Path javaHome) {
      this.javaHome = javaHome;
      return this;
    }

    /** Sets a system property of the new JVM. */
    public Builder property(String key, String value) {
      properties.put(key, value);
      return this;
    }

    /**
     * Sets a consumer of the lines of its standard output, which replaces {@link #nextLine}. It is
     * called on a separate thread, and must not throw: later lines would be lost.
     */
    public Builder onLine(Consumer<String> onLine) {
      this.onLine = onLine;
      return this;
    }

    /**
     * Starts the JVM. When this returns, the process exists; its main method may not have begun.
     */
    public ForkedJvm start() {
      List<String> command = new ArrayList<>();
      command.add(javaHome.resolve("bin").resolve("java").toString());
      if (ForkedJvm.class.desiredAssertionStatus()) {
        command.add("-ea");
      }
      command.addAll(List.of("-cp", classPath()));
      properties.forEach((key, value) -> command.add("-D" + key + "=" + value));
      command.addAll(jvmArgs);
      command.add(main.getName());
      command.addAll(args);
      try {
        return new ForkedJvm(name, ChildProcess.start(new ProcessBuilder(command)), onLine);
      } catch (IOException e) {
        throw new UncheckedIOException("Cannot start a JVM for " + main.getName(), e);
      }
    }

    /**
     * Modules are put on the class path too: the workers' main classes do not need the module
     * system.
     */
    private static String classPath() {
      String modules = System.getProperty("jdk.module.path", "");
      String jars = System.getProperty("java.class.path", "");
      return modules.isEmpty() ? jars : jars + File.pathSeparator + modules;
    }
  }
}
