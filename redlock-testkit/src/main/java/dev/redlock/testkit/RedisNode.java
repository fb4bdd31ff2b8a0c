package dev.redlock.testkit;

import dev.redlock.testkit.internal.PortReservation;
import dev.redlock.testkit.internal.Waiting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One independent Redis master of a test. A test can kill, restart, pause and flush it, and send it
 * commands.
 *
 * <p>Its ports stay the same over restarts. Queries and administrative commands bypass the gate,
 * each over a short-lived connection. They fail with {@link IllegalStateException} at once if the
 * node is paused or dead, and with {@link UncheckedIOException} if it does not reply within 5 s.
 * Faults (kill, restart, pause, resume) are executed one after another. Safe from any thread.
 */
public final class RedisNode {

  private static final Duration ANSWER_PATIENCE = Duration.ofSeconds(5);
  private static final Duration GLANCE_PATIENCE = Duration.ofMillis(300);
  private static final Duration EXPIRY_PATIENCE = Duration.ofSeconds(2);

  private final int index;
  private final RedisServer server;
  private final @Nullable TcpGate gate;
  private final PortReservation reservation;
  private final Object faults = new Object();

  // How many of the commands that the server has counted were sent by this object.
  private final AtomicLong ownCommands = new AtomicLong();

  RedisNode(int index, RedisServer server, @Nullable TcpGate gate, PortReservation reservation) {
    this.index = index;
    this.server = server;
    this.gate = gate;
    this.reservation = reservation;
  }

  /** Starts the server. When this returns, the server replies to commands. */
  void start() {
    server.start();
    forgetCounts();
  }

  /** The index of the node in its {@link RedisNodes}, from 0. */
  public int index() {
    return index;
  }

  /** The URI for clients, of the gate if there is one. It contains the password, if any. */
  public String uri() {
    return gate == null ? directUri() : server.address().through(gate.port()).uri();
  }

  /** The URI of the server itself, without the gate. */
  public String directUri() {
    return server.address().uri();
  }

  /** The port for clients, of the gate if there is one. */
  public int port() {
    return gate == null ? directPort() : gate.port();
  }

  /** The port of the server itself. */
  public int directPort() {
    return server.address().port();
  }

  /**
   * The gate in front of the node.
   *
   * @throws IllegalStateException if the nodes were not started with {@code gated(true)}
   */
  public TcpGate gate() {
    if (gate == null) {
      throw new IllegalStateException("Node " + index + " was started without a gate");
    }
    return gate;
  }

  /** Whether there is a {@link #gate()}. */
  public boolean isGated() {
    return gate != null;
  }

  /** The state of the node's process or container. */
  public ServerState state() {
    return server.state();
  }

  /**
   * Kills the node (SIGKILL), also a paused one. When this returns, the process has ended and
   * connections to it are refused. Does nothing if the node is dead.
   *
   * @throws UnsupportedOperationException if the node was given by its URI; the same holds for the
   *     other faults
   */
  public void kill() {
    synchronized (faults) {
      server.kill();
    }
  }

  /**
   * Kills the node if it runs, and starts it again, empty, on the same port. When this returns, the
   * node replies to commands.
   */
  public void restart() {
    synchronized (faults) {
      server.restart(false);
      forgetCounts();
    }
  }

  /**
   * Kills the node if it runs, and starts it again with all writes that it had acknowledged.
   *
   * @throws IllegalStateException unless the nodes were started with {@code appendOnly(true)}
   */
  public void restartKeepingData() {
    synchronized (faults) {
      server.restart(true);
      forgetCounts();
    }
  }

  /**
   * Stops the node (SIGSTOP). Connections stay open and new ones succeed, but the node does not
   * reply. It executes requests that arrive meanwhile after {@link #resume()}, even if the sender
   * has disconnected by then.
   */
  public void pause() {
    synchronized (faults) {
      server.pause();
    }
  }

  /** Resumes a paused node (SIGCONT). Does nothing if it runs. */
  public void resume() {
    synchronized (faults) {
      server.resume();
    }
  }

  /** Opens the gate, resumes the node if it is paused, and restarts it, empty, if it is dead. */
  void endFaults() {
    if (gate != null) {
      gate.endFaults();
    }
    synchronized (faults) {
      switch (server.state()) {
        case PAUSED -> resume();
        case DEAD -> restart();
        case RUNNING -> {}
      }
    }
  }

  /** Removes all data; on a server given by its URI, only the database that the URI names. */
  public void flush() {
    command(server.flushCommand());
  }

  /**
   * Expires a key at once, like a node whose clock is ahead. When this returns, the key does not
   * exist. Returns false if there was no such key. The argument is a key of Redis, not the name of
   * a lock: the key of the lock {@code orders} is <code>redlock:{orders}</code>, and {@code
   * LockKeys} computes the key of any name.
   */
  public boolean expireEarly(String key) {
    if (Long.valueOf(0).equals(command("PEXPIRE", key, "1"))) {
      return false;
    }
    Waiting.until( // A holder that received an invalidation may have extended the key meanwhile.
        "key " + key + " has expired",
        EXPIRY_PATIENCE,
        () -> Long.valueOf(0).equals(command("PEXPIRE", key, "1")));
    return true;
  }

  /**
   * Sends a command and returns its reply: a {@code String}, a {@code Long}, a {@code List} of
   * these, or null. Each call uses a new connection, so MULTI and SUBSCRIBE have no lasting effect.
   *
   * @throws RedisReplyException if the node replies with an error
   */
  public @Nullable Object command(String... words) {
    return ask(words[0], connection -> Optional.ofNullable(call(connection, words))).orElse(null);
  }

  /** All keys with their types and remaining times, in no particular order. */
  public List<RedisKey> keys() {
    return ask("SCAN", this::scan);
  }

  /** The key with its type and remaining time, or empty if there is none. */
  public Optional<RedisKey> key(String name) {
    return ask("TYPE", connection -> describeKey(connection, name));
  }

  /**
   * The number of commands that the node has executed since it started, without those that this
   * object sent. Commands that scripts call count like those of clients; {@code command("INFO",
   * "commandstats")} lists them by name.
   */
  public long commandCount() {
    return totalCommands()
        - ownCommands.get()
        + 1; // the INFO itself is not yet counted in its reply
  }

  /**
   * Returns one line for a failure message: address, state, process, uptime, number of keys, gate.
   * Never throws, and takes at most 300 ms if the node does not reply.
   */
  public String describe() {
    ServerState state = state();
    StringBuilder line = new StringBuilder("node ").append(index).append(' ');
    line.append(server.address()).append(' ').append(state.name().toLowerCase(Locale.ROOT));
    line.append(' ').append(server.identity());
    if (state == ServerState.RUNNING) {
      line.append(glance());
    }
    if (gate != null) {
      line.append(", gate ").append(gate.port()).append(' ').append(gate.describe());
    }
    return line.toString();
  }

  @Override
  public String toString() {
    return "node " + index + " " + server.address();
  }

  /** Stops the server and removes its files. */
  void close() {
    if (gate != null) {
      gate.close();
    }
    synchronized (faults) {
      server.close();
    }
    reservation.close();
  }

  private String glance() {
    try (RespConnection connection = RespConnection.open(server.address(), GLANCE_PATIENCE)) {
      String info = String.valueOf(call(connection, "INFO", "server"));
      Object keys = call(connection, "DBSIZE");
      return " uptime=" + ServerInfo.field(info, "uptime_in_seconds", "?") + "s keys=" + keys;
    } catch (IOException | RedisReplyException e) {
      return " does not reply (" + e.getMessage() + ")";
    }
  }

  /** A query that may fail with an I/O error. */
  private interface Question<T> {
    T ask(RespConnection connection) throws IOException;
  }

  private <T> T ask(String what, Question<T> question) {
    ServerState state = state();
    if (state != ServerState.RUNNING) {
      throw new IllegalStateException(
          "Cannot send " + what + ": " + this + " is " + state.name().toLowerCase(Locale.ROOT));
    }
    try (RespConnection connection = RespConnection.open(server.address(), ANSWER_PATIENCE)) {
      return question.ask(connection);
    } catch (IOException e) {
      throw new UncheckedIOException(what + " got no reply from " + describe(), e);
    }
  }

  private @Nullable Object call(RespConnection connection, String... words) throws IOException {
    ownCommands.incrementAndGet();
    return connection.call(words);
  }

  private List<RedisKey> scan(RespConnection connection) throws IOException {
    Set<String> names = new LinkedHashSet<>(); // SCAN may return a key twice
    String cursor = "0";
    do {
      if (!(call(connection, "SCAN", cursor, "COUNT", "1000") instanceof List<?> page)) {
        throw new IOException("Not a SCAN reply");
      }
      cursor = String.valueOf(page.get(0));
      ((List<?>) page.get(1)).forEach(name -> names.add(String.valueOf(name)));
    } while (!cursor.equals("0"));
    List<RedisKey> keys = new ArrayList<>();
    for (String name : names) {
      describeKey(connection, name).ifPresent(keys::add);
    }
    return keys;
  }

  private Optional<RedisKey> describeKey(RespConnection connection, String name)
      throws IOException {
    String type = String.valueOf(call(connection, "TYPE", name));
    long millis = call(connection, "PTTL", name) instanceof Long ttl ? ttl : -2;
    if (type.equals("none") || millis == -2) {
      return Optional.empty();
    }
    Optional<Duration> ttl = millis < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(millis));
    return Optional.of(new RedisKey(name, type, ttl));
  }

  private long totalCommands() {
    String info = String.valueOf(command("INFO", "stats"));
    return Long.parseLong(ServerInfo.field(info, "total_commands_processed", "0"));
  }

  /**
   * Treats all commands so far as sent by this object: they were the wait until the server was
   * ready.
   */
  private void forgetCounts() {
    long before = totalCommands();
    ownCommands.set(before + 1);
  }
}
