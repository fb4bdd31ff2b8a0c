package dev.redlock.testkit;

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
 * One independent Redis master of a test: can be killed, restarted, paused, flushed and asked.
 *
 * <p>Its ports stay the same over restarts. All questions and administrative commands go past the
 * gate, over a short-lived connection each. They fail with {@link IllegalStateException} at once if
 * the node is paused or dead, and with {@link UncheckedIOException} if it does not answer within 5
 * s. Faults (kill, restart, pause, resume) are carried out one after the other; all methods may be
 * called from any thread.
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

  // How many of the commands that the server has counted were ours.
  private final AtomicLong ownCommands = new AtomicLong();

  RedisNode(int index, RedisServer server, @Nullable TcpGate gate, PortReservation reservation) {
    this.index = index;
    this.server = server;
    this.gate = gate;
    this.reservation = reservation;
  }

  /** Starts the server; when this returns, it answers. */
  void start() {
    server.start();
    forgetCounts();
  }

  /** The node's place among its {@link RedisNodes}, from 0. */
  public int index() {
    return index;
  }

  /** The address for clients, through the gate if there is one; carries the password, if any. */
  public String uri() {
    return gate == null ? directUri() : server.address().through(gate.port()).uri();
  }

  /** The address of the server itself, past the gate. */
  public String directUri() {
    return server.address().uri();
  }

  /** The port for clients, that of the gate if there is one. */
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

  /** What the node's process or container is doing. */
  public ServerState state() {
    return server.state();
  }

  /**
   * Kills the node (SIGKILL), also a paused one; when this returns it is gone, and connections to
   * it are refused. Does nothing if it is dead.
   *
   * @throws UnsupportedOperationException if the node was given by its URI; so do the other faults
   */
  public void kill() {
    synchronized (faults) {
      server.kill();
    }
  }

  /**
   * Kills the node if it runs and starts it again, empty, on the same port. When this returns it
   * answers.
   */
  public void restart() {
    synchronized (faults) {
      server.restart(false);
      forgetCounts();
    }
  }

  /**
   * Kills the node if it runs and starts it again with everything it had acknowledged.
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
   * Stops the node (SIGSTOP): connections stay up, new ones succeed, nothing is answered. What is
   * sent meanwhile is executed after {@link #resume()}, also if the sender has gone by then.
   */
  public void pause() {
    synchronized (faults) {
      server.pause();
    }
  }

  /** Lets a paused node run on (SIGCONT); does nothing if it runs. */
  public void resume() {
    synchronized (faults) {
      server.resume();
    }
  }

  /** Heals the gate, resumes the node if paused, and restarts it, empty, if dead. */
  void heal() {
    if (gate != null) {
      gate.heal();
    }
    synchronized (faults) {
      switch (server.state()) {
        case PAUSED -> resume();
        case DEAD -> restart();
        case RUNNING -> {}
      }
    }
  }

  /** Removes all data. Of a server given by URI only the database that the URI names. */
  public void flush() {
    command(server.flushCommand());
  }

  /**
   * Ends the life of a key at once, as a node does whose clock ran ahead: it expires, and is gone
   * when this returns. False if there was no such key. It is a key of Redis, not the name of a
   * lock: that of the lock {@code orders} is <code>redlock:{orders}</code>, and {@code LockKeys}
   * knows it for any name.
   */
  public boolean expireEarly(String key) {
    if (Long.valueOf(0).equals(command("PEXPIRE", key, "1"))) {
      return false;
    }
    Waiting.until( // Whoever is pushed that its key has changed may have given it more time.
        "key " + key + " has expired",
        EXPIRY_PATIENCE,
        () -> Long.valueOf(0).equals(command("PEXPIRE", key, "1")));
    return true;
  }

  /**
   * Sends a command and returns its reply: a {@code String}, a {@code Long}, a {@code List} of
   * these, or null. Each call has a connection of its own, so MULTI or SUBSCRIBE make no sense.
   *
   * @throws RedisReplyException if the node answers with an error
   */
  public @Nullable Object command(String... words) {
    return ask(words[0], connection -> Optional.ofNullable(call(connection, words))).orElse(null);
  }

  /** All keys with type and remaining time, in no order. */
  public List<RedisKey> keys() {
    return ask("SCAN", this::scan);
  }

  /** The key with its type and remaining time, or empty if there is none. */
  public Optional<RedisKey> key(String name) {
    return ask("TYPE", connection -> describeKey(connection, name));
  }

  /**
   * How many commands the node has executed since it started, without those that this object sent.
   * Commands that scripts call are counted like those of clients; {@code command("INFO",
   * "commandstats")} tells them by name.
   */
  public long commandCount() {
    return totalCommands() - ownCommands.get() + 1; // its own INFO is not yet in the answer
  }

  /**
   * One line for a failure message: address, state, process, uptime, number of keys, gate. Never
   * throws, and takes at most 300 ms if the node does not answer.
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

  /** Ends the server and removes its files. */
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
      return " uptime=" + Probe.field(info, "uptime_in_seconds", "?") + "s keys=" + keys;
    } catch (IOException | RedisReplyException e) {
      return " does not answer (" + e.getMessage() + ")";
    }
  }

  /** A question that may fail on the wire. */
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
      throw new UncheckedIOException(what + " got no answer from " + describe(), e);
    }
  }

  private @Nullable Object call(RespConnection connection, String... words) throws IOException {
    ownCommands.incrementAndGet();
    return connection.call(words);
  }

  private List<RedisKey> scan(RespConnection connection) throws IOException {
    Set<String> names = new LinkedHashSet<>(); // SCAN may tell a key twice
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
    return Long.parseLong(Probe.field(info, "total_commands_processed", "0"));
  }

  /** What the server has counted so far was our waiting until it is ready. */
  private void forgetCounts() {
    long before = totalCommands();
    ownCommands.set(before + 1);
  }
}
