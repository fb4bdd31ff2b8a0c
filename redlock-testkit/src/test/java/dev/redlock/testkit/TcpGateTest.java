package dev.redlock.testkit;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpGateTest {

  /** How long the test waits for bytes that must not arrive. */
  private static final Duration SHORT = Duration.ofMillis(150);

  /**
   * How long the test waits for bytes that must arrive. A short pause of the machine must not
   * matter.
   */
  private static final Duration LONG = Duration.ofSeconds(10);

  private static RedisNodes nodes;

  private RedisNode node;
  private TcpGate gate;
  private RespConnection client;

  @BeforeAll
  static void start() {
    nodes = RedisNodes.builder().count(1).gated(true).start();
  }

  @AfterAll
  static void end() {
    nodes.close();
  }

  @BeforeEach
  void connect() throws IOException {
    nodes.endFaults();
    nodes.flush();
    node = nodes.get(0);
    gate = node.gate();
    client = open();
    assertThat(client.call("PING")).isEqualTo("PONG");
  }

  @AfterEach
  void disconnect() throws IOException {
    client.close();
  }

  @Test
  void open_manyCommandsAndBigValues_passUnchanged() throws IOException {
    String big = "x".repeat(5_000_000);
    assertThat(client.call("SET", "big", big)).isEqualTo("OK");
    assertThat(client.call("GET", "big")).isEqualTo(big);
    for (int i = 0; i < 10_000; i++) {
      client.send("INCR", "n");
    }
    for (long i = 1; i <= 10_000; i++) {
      assertThat(client.read()).isEqualTo(i);
    }
    assertThat(gate.describe()).isEqualTo("open, 1 connections");
  }

  @Test
  void open_clientCloses_nodeSeesItGo() throws IOException {
    long before = connectedClients();
    client.close();
    await().until(() -> connectedClients() == before - 1);
    await().until(() -> gate.connections() == 0);
  }

  @Test
  void open_clientClosesOrderly_everythingSentIsExecuted() throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gate.port())) {
      socket.getOutputStream().write("INCR n\r\nINCR n\r\n".getBytes(US_ASCII));
      socket.shutdownOutput();
      assertThat(new String(socket.getInputStream().readAllBytes(), US_ASCII))
          .isEqualTo(":1\r\n:2\r\n");
    }
  }

  @Test
  void open_nodeKilled_clientSeesItAtOnceAndReconnectsAfterRestart() throws IOException {
    node.kill();
    assertThatThrownBy(() -> client.call("PING"))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(SocketTimeoutException.class);
    assertThatThrownBy(this::ping)
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(SocketTimeoutException.class);

    node.restart();
    assertThat(ping()).isEqualTo("PONG");
  }

  @Test
  void cut_connected_resetsAndRefusesUntilFaultsEnd() throws IOException {
    int port = gate.port();

    gate.cut();

    assertThatThrownBy(() -> client.call("PING"))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(SocketTimeoutException.class);
    assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), port).close())
        .isInstanceOf(ConnectException.class);
    assertThat(gate.describe()).isEqualTo("cut, 0 connections");
    assertThat(node.command("PING")).isEqualTo("PONG");
    gate.cut();

    gate.endFaults();
    assertThat(gate.port()).isEqualTo(port);
    assertThat(ping()).isEqualTo("PONG");
  }

  @Test
  void dropReplies_request_isExecutedUnansweredAndItsConnectionResetByEndFaults()
      throws IOException {
    try (RespConnection idle = open();
        Asking asking = new Asking()) {
      assertThat(idle.call("PING")).isEqualTo("PONG");
      gate.dropReplies();

      asking.send("INCR n");
      await().until(() -> "1".equals(node.command("GET", "n")));
      asking.assertSilence();

      gate.endFaults();
      asking.assertReset();
      assertThat(idle.call("INCR", "n")).isEqualTo(2L);
    }
  }

  @Test
  void dropRequests_request_isNeverExecuted() throws IOException {
    try (Asking asking = new Asking()) {
      asking.send("INCR n");
      assertThat(asking.read(LONG)).isEqualTo(":1");
      gate.dropRequests();

      asking.send("INCR n");
      asking.assertSilence();

      gate.endFaults();
      asking.assertReset();
      assertThat(client.call("GET", "n")).isEqualTo("1");
    }
  }

  @Test
  void dropRequests_invalidationFromNode_stillArrives() throws IOException {
    client.call("SUBSCRIBE", "news");
    gate.dropRequests();

    node.command("PUBLISH", "news", "hello");

    assertThat(client.read()).isEqualTo(List.of("message", "news", "hello"));
  }

  @Test
  void blackHole_idleConnection_livesOnAfterEndFaults() throws IOException {
    gate.blackHole();
    assertThat(gate.describe()).isEqualTo("black hole, 1 connections");
    gate.endFaults();
    assertThat(client.call("PING")).isEqualTo("PONG");
  }

  @Test
  void blackHole_newConnection_isSilentAndNeverReachesTheNode() throws IOException {
    long before = connectedClients();
    gate.blackHole();

    try (Asking late = new Asking()) {
      await().until(() -> gate.connections() == 2); // Otherwise it may arrive after the fault.
      late.send("PING");
      late.assertSilence();
      assertThat(connectedClients()).isEqualTo(before);
      gate.endFaults();
      late.assertReset();
    }
  }

  @Test
  void blackHole_oneSideCloses_otherSideLearnsItOnlyByEndFaults() throws IOException {
    long before = connectedClients();
    gate.blackHole();

    client.close();
    await().during(SHORT).until(() -> connectedClients() == before);

    gate.endFaults();
    await().until(() -> connectedClients() == before - 1);
    await().until(() -> gate.connections() == 0);
  }

  @Test
  void blackHole_nodeKilled_clientLearnsItOnlyByEndFaults() throws IOException {
    try (Asking asking = new Asking()) {
      asking.send("PING");
      assertThat(asking.read(LONG)).isEqualTo("+PONG");
      gate.blackHole();
      node.kill();

      asking.assertSilence();

      gate.endFaults();
      asking.assertReset();
    }
  }

  @Test
  void dropRequests_sentBefore_isExecuted() throws IOException {
    client.send("INCR", "n");
    client.send("GET", "n");
    client.flush();
    gate.dropRequests();
    assertThat(client.read()).isEqualTo(1L);
    assertThat(client.read()).isEqualTo("1");
  }

  @Test
  void resetConnections_connected_areResetAndNewOnesWelcome() throws IOException {
    gate.resetConnections();

    assertThatThrownBy(() -> client.call("PING"))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(SocketTimeoutException.class);
    assertThat(ping()).isEqualTo("PONG");
  }

  @Test
  void cutAfterReplyBytes_longReply_endsWithinIt() throws IOException {
    client.call("SET", "k", "0123456789");
    gate.cutAfterReplyBytes(8);

    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), gate.port())) {
      socket.getOutputStream().write("GET k\r\n".getBytes(US_ASCII));
      byte[] got = new byte[100];
      int count = 0;
      try {
        for (int n = 0; n >= 0; n = socket.getInputStream().read(got, count, 100 - count)) {
          count += n;
        }
      } catch (IOException e) {
        // A reset, or in a rare race an end; either way this is what arrived before it.
      }
      assertThat(new String(got, 0, count, US_ASCII)).isEqualTo("$10\r\n012");
    }
    assertThat(gate.describe()).startsWith("cut");
  }

  @Test
  void delay_thenEndFaults_deliversInOrderAtOnce() throws IOException {
    gate.delay(Duration.ofHours(1), Duration.ZERO);
    client.send("INCR", "n");
    client.send("INCR", "n");
    client.flush();
    await().during(SHORT).until(() -> node.command("GET", "n") == null);

    gate.endFaults();

    assertThat(client.read()).isEqualTo(1L);
    assertThat(client.read()).isEqualTo(2L);
  }

  @Test
  void delay_shortened_nothingOvertakes() throws IOException {
    gate.delay(Duration.ofMillis(60), Duration.ZERO);
    client.send("SET", "k", "first");
    client.flush();
    gate.delay(Duration.ZERO, Duration.ZERO);
    client.send("SET", "k", "second");
    client.read();
    client.read();
    assertThat(node.command("GET", "k")).isEqualTo("second");
  }

  @Test
  void delay_clientResets_whatWasSentStillArrivesLater() throws IOException {
    gate.delay(Duration.ofSeconds(1), Duration.ZERO);
    client.send("INCR", "n");
    client.flush();
    client.close(); // with a reset
    assertThat(node.command("GET", "n")).isNull();
    await().until(() -> "1".equals(node.command("GET", "n")));
    await().until(() -> gate.connections() == 0);
  }

  @Test
  void delay_ofAFewHundredMicroseconds_isNotAMillisecond() throws IOException {
    gate.delay(Duration.ofNanos(200_000), Duration.ofNanos(200_000));
    long best = Long.MAX_VALUE;
    for (int i = 0; i < 200; i++) {
      long start = System.nanoTime();
      client.call("PING");
      best = Math.min(best, System.nanoTime() - start);
    }
    assertThat(Duration.ofNanos(best)).isBetween(Duration.ofNanos(400_000), Duration.ofMillis(2));
  }

  @Test
  void pausedNode_manyRequests_areExecutedAfterResume() throws IOException {
    node.pause();
    String megabyte = "x".repeat(1 << 20);
    for (int i = 0; i < 20; i++) {
      client.send("SET", "k" + i, megabyte);
    }
    client.flush();
    node.resume();
    for (int i = 0; i < 20; i++) {
      assertThat(client.read()).isEqualTo("OK");
    }
  }

  @Test
  void inFrontOf_portTaken_failsAndNamesIt() {
    assertThatThrownBy(() -> TcpGate.inFrontOf("127.0.0.1", 1, node.directPort()))
        .isInstanceOf(RedisStartException.class)
        .hasMessageContaining("Port " + node.directPort());
  }

  @Test
  void close_twice_refusesConnectionsAndOrders() {
    TcpGate other = TcpGate.inFrontOf("127.0.0.1", node.directPort());
    other.close();
    other.close();
    assertThatThrownBy(() -> new Socket(InetAddress.getLoopbackAddress(), other.port()).close())
        .isInstanceOf(ConnectException.class);
    assertThatThrownBy(other::cut)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void delay_bothWays_slowsEachCommandButNotThroughput() throws IOException {
    gate.delay(Duration.ofMillis(20), Duration.ofMillis(30));

    long start = System.nanoTime();
    for (int i = 0; i < 2_000; i++) {
      client.send("INCR", "n");
    }
    for (long i = 1; i <= 2_000; i++) {
      assertThat(client.read()).isEqualTo(i);
    }
    Duration elapsed = Duration.ofNanos(System.nanoTime() - start);

    assertThat(elapsed).isBetween(Duration.ofMillis(50), Duration.ofMillis(1_000));
  }

  private static long connectedClients() {
    String info = String.valueOf(nodes.get(0).command("INFO", "clients"));
    return Long.parseLong(ServerInfo.field(info, "connected_clients", "0"));
  }

  private RespConnection open() throws IOException {
    return RespConnection.open(NodeAddress.local(gate.port(), ""), LONG);
  }

  private Object ping() throws IOException {
    try (RespConnection fresh = open()) {
      return fresh.call("PING");
    }
  }

  /** A connection through the gate, with a patience for each read. */
  private final class Asking implements AutoCloseable {
    private final Socket socket = new Socket(InetAddress.getLoopbackAddress(), gate.port());

    Asking() throws IOException {}

    void send(String command) throws IOException {
      socket.getOutputStream().write((command + "\r\n").getBytes(US_ASCII));
    }

    /** The next line, without its end. */
    String read(Duration patience) throws IOException {
      socket.setSoTimeout((int) patience.toMillis());
      StringBuilder line = new StringBuilder();
      for (int c = socket.getInputStream().read(); c != '\n'; c = socket.getInputStream().read()) {
        if (c < 0) {
          throw new EOFException("closed after: " + line);
        }
        line.append((char) c);
      }
      return line.toString().strip();
    }

    void assertSilence() {
      assertThatThrownBy(() -> read(SHORT)).isInstanceOf(SocketTimeoutException.class);
    }

    void assertReset() {
      assertThatThrownBy(() -> read(LONG))
          .isInstanceOf(IOException.class)
          .isNotInstanceOf(SocketTimeoutException.class);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
