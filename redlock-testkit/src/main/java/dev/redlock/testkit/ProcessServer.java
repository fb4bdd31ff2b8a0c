package dev.redlock.testkit;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import dev.redlock.testkit.internal.ChildProcess;
import dev.redlock.testkit.internal.Waiting;
import dev.redlock.testkit.internal.Watchdog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A redis-server process on this machine. */
final class ProcessServer implements RedisServer {

  private static final Duration START_PATIENCE = Duration.ofSeconds(20);

  /** C libraries use different texts for this error. */
  private static final Pattern PORT_TAKEN = Pattern.compile("Address (already )?in use");

  private final Path binary;
  private final ServerSpec spec;
  private final Path directory;

  // Written by start, read by any thread that asks for the state.
  private volatile @Nullable ChildProcess process;

  ProcessServer(Path binary, ServerSpec spec) {
    this.binary = binary;
    this.spec = spec;
    try {
      this.directory = Files.createTempDirectory(Watchdog.directory(), "node-" + spec.port() + "-");
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot create a directory for a node", e);
    }
  }

  @Override
  public NodeAddress address() {
    return NodeAddress.local(spec.port(), spec.user(), spec.password());
  }

  @Override
  public void start() {
    List<String> command = new ArrayList<>(List.of(binary.toString()));
    command.addAll(List.of("--port", Integer.toString(spec.port()), "--bind", "127.0.0.1"));
    command.addAll(List.of("--dir", data().toString()));
    command.addAll(spec.args());
    try {
      Files.createDirectories(data());
      ChildProcess child =
          ChildProcess.start(
              new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log().toFile()));
      child.process().getOutputStream().close();
      process = child;
      awaitReady(child);
    } catch (IOException e) {
      throw new RedisStartException("Cannot start " + binary, e);
    }
  }

  @Override
  public void kill() {
    ChildProcess running = process;
    if (running != null) {
      running.kill();
    }
  }

  @Override
  public void restart(boolean keepData) {
    if (keepData && !spec.appendOnly()) {
      throw new IllegalStateException(
          "Only a node that was started with appendOnly(true) can keep its data over a restart");
    }
    kill();
    if (!keepData) {
      deleteAll(data());
    }
    start();
  }

  @Override
  public void pause() {
    alive().pause();
  }

  @Override
  public void resume() {
    alive().resume();
  }

  @Override
  public ServerState state() {
    ChildProcess running = process;
    if (running == null || !running.isAlive()) {
      return ServerState.DEAD;
    }
    return running.isPaused() ? ServerState.PAUSED : ServerState.RUNNING;
  }

  @Override
  public String identity() {
    ChildProcess last = process;
    return last == null ? "never started" : "pid " + last.pid();
  }

  @Override
  public void close() {
    kill();
    deleteAll(directory);
  }

  private ChildProcess alive() {
    ChildProcess running = process;
    if (running == null || !running.isAlive()) {
      throw new IllegalStateException("The node on port " + spec.port() + " is dead");
    }
    return running;
  }

  /** Waits until this process replies; a reply of another process on its port does not count. */
  private void awaitReady(ChildProcess child) {
    String ours = "process_id:" + child.pid() + "\r";
    boolean settled =
        Waiting.reached(
            START_PATIENCE, () -> !child.isAlive() || ServerInfo.read(address()).contains(ours));
    if (settled && child.isAlive()) {
      return;
    }
    boolean alive = child.isAlive();
    child.kill();
    String tail = logTail();
    if (!alive && PORT_TAKEN.matcher(tail).find()) {
      throw RedisStartException.portTaken(spec.port(), new IOException(tail));
    }
    throw new RedisStartException(
        binary
            + (alive ? " did not reply within " + START_PATIENCE : " ended by itself")
            + ", port "
            + spec.port()
            + ". Its log ends with:\n"
            + tail);
  }

  private Path data() {
    return directory.resolve("data");
  }

  private Path log() {
    return directory.resolve("log");
  }

  private String logTail() {
    try {
      List<String> lines = Files.readAllLines(log(), StandardCharsets.ISO_8859_1);
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 12), lines.size()));
    } catch (IOException e) {
      return "(no log: " + e + ")";
    }
  }

  private static void deleteAll(Path root) {
    try {
      if (Files.exists(root)) {
        MoreFiles.deleteRecursively(root, RecursiveDeleteOption.ALLOW_INSECURE);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot delete " + root, e);
    }
  }
}
