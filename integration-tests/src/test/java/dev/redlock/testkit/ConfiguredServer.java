package dev.redlock.testkit;

import dev.redlock.testkit.internal.ChildProcess;
import dev.redlock.testkit.internal.PortReservation;
import dev.redlock.testkit.internal.Waiting;
import dev.redlock.testkit.internal.Watchdog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A server that a configuration file describes, with users of its own. The nodes of the kit have
 * neither. It is in this package because it ends with the JVM as they do.
 */
public final class ConfiguredServer implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final PortReservation reservation;
  private final ChildProcess process;
  private final Path log;

  private ConfiguredServer(PortReservation reservation, ChildProcess process, Path log) {
    this.reservation = reservation;
    this.process = process;
    this.log = log;
  }

  /**
   * Starts a server on a free port. When this returns, it replies to this user, which may run PING
   * and INFO.
   *
   * @param args the file, and options that override it; the port comes last
   */
  public static ConfiguredServer start(String user, String password, String... args) {
    PortReservation reservation = PortReservation.any();
    try {
      Path folder = Files.createTempDirectory(Watchdog.directory(), "configured-");
      Path log = folder.resolve("log");
      List<String> command = new ArrayList<>(List.of(binary().toString()));
      command.addAll(List.of(args));
      command.addAll(List.of("--port", Integer.toString(reservation.port())));
      ChildProcess process =
          ChildProcess.start(
              new ProcessBuilder(command)
                  .directory(folder.toFile())
                  .redirectErrorStream(true)
                  .redirectOutput(log.toFile()));
      ConfiguredServer server = new ConfiguredServer(reservation, process, log);
      server.awaitReady(user, password);
      return server;
    } catch (IOException e) {
      reservation.close();
      throw new UncheckedIOException(e);
    }
  }

  private static Path binary() {
    Path named = RedisSource.configuredBinary();
    try {
      return named == null ? EmbeddedBinary.locate() : named;
    } catch (ServerSource.UnavailableException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A reply of another process on the port does not count. */
  private void awaitReady(String user, String password) throws IOException {
    String ours = "process_id:" + process.pid() + "\r";
    NodeAddress address = NodeAddress.local(port(), user, password);
    boolean settled =
        Waiting.reached(
            PATIENCE, () -> !process.isAlive() || ServerInfo.read(address).contains(ours));
    if (!settled || !process.isAlive()) {
      close();
      throw new IllegalStateException("The server is not ready. Its log: " + Files.readString(log));
    }
  }

  public int port() {
    return reservation.port();
  }

  /** Sends a command as this user; an error reply is a {@link RedisReplyException}. */
  public @Nullable Object command(String user, String password, String... words) {
    NodeAddress address = NodeAddress.local(port(), user, password);
    try (RespConnection connection = RespConnection.open(address, PATIENCE)) {
      return connection.call(words);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.kill();
    reservation.close();
  }
}
