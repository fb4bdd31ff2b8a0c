package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Drive;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.HdrHistogram.Histogram;

/**
 * The distance between the clients and the masters, played by the gates in front of the masters. A
 * gate delays each direction by half of the round trip. The gate itself and the server add some
 * tenths of a millisecond. The delay is shorter by that time, so that {@code PING} takes the round
 * trip.
 */
final class DelayedGates {
  private static final int TIMES_FARTHER = 20;
  private static final int WARM_UP = 3;
  private static final int PINGS = 15;
  private static final byte[] PING = "PING\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final int PONG = "+PONG\r\n".length();

  private final RedisNodes nodes;
  private final Duration roundTrip;
  private final boolean lastIsFar;
  private final Duration delayed;
  private final Histogram ping;

  /** Finds the delay that plays this round trip. The last node can be 20 times farther. */
  DelayedGates(RedisNodes nodes, Duration roundTrip, boolean lastIsFar) throws IOException {
    this.nodes = nodes;
    this.roundTrip = roundTrip;
    this.lastIsFar = lastIsFar;
    delay(roundTrip);
    long excess = pings().getValueAtPercentile(50) - roundTrip.toNanos();
    delayed = roundTrip.minusNanos(Math.max(0, excess));
    begin();
    ping = pings();
  }

  /** The times of {@code PING} to the nodes that are not far, in nanoseconds. */
  Histogram ping() {
    return ping;
  }

  /** Begins to delay. */
  void begin() {
    delay(delayed);
  }

  /** Removes all delays. */
  void end() {
    nodes.forEach(node -> node.gate().endFaults());
  }

  private void delay(Duration near) {
    Duration far = roundTrip.multipliedBy(TIMES_FARTHER);
    for (RedisNode node : nodes) {
      Duration half = (isFar(node) ? far : near).dividedBy(2);
      node.gate().delay(half, half);
    }
  }

  private boolean isFar(RedisNode node) {
    return lastIsFar && node.index() == nodes.size() - 1;
  }

  private Histogram pings() throws IOException {
    Histogram times = Drive.histogram();
    for (RedisNode node : nodes) {
      if (!isFar(node)) {
        ping(node, times);
      }
    }
    return times;
  }

  private static void ping(RedisNode node, Histogram times) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), node.port())) {
      socket.setTcpNoDelay(true);
      for (int i = 0; i < WARM_UP + PINGS; i++) {
        long start = System.nanoTime();
        socket.getOutputStream().write(PING);
        if (socket.getInputStream().readNBytes(PONG).length < PONG) {
          throw new IOException("no reply to PING from " + node);
        }
        if (i >= WARM_UP) {
          times.recordValue(System.nanoTime() - start);
        }
      }
    }
  }
}
