package dev.redlock.testkit;

import dev.redlock.internal.text.Printable;
import dev.redlock.testkit.internal.PortReservation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletionException;

/**
 * A gate in front of a server: a port of this JVM on 127.0.0.1 through which clients reach the
 * server. A test can cut, delay or swallow the bytes that pass. The port stays the same, whatever
 * happens to the gate or the server.
 *
 * <p>A call returns when it has taken effect on all existing connections and applies to new ones.
 * It applies to bytes that arrive after the call. Bytes that had reached the gate before are
 * forwarded by the rules that were in force then.
 *
 * <p>Faults add up until {@link #endFaults()}: {@link #dropRequests()} after {@link #dropReplies()}
 * equals {@link #blackHole()}, and delays combine with both. Only {@link #cut()} replaces all other
 * faults.
 *
 * <p>An open gate forwards at once and keeps the order of bytes. When one side closes, the gate
 * closes the other side in the same way (orderly or by reset). One limit: the gate completes the
 * client's TCP handshake itself. So a client behind a black hole gets a connection without replies,
 * instead of no connection; and a client whose node is dead gets a connection and then a reset,
 * instead of a refused connection.
 *
 * <p>Safe from any thread. One daemon thread serves a gate.
 */
public final class TcpGate implements AutoCloseable {

  private final PortReservation reservation;
  private final GateLoop loop;
  private final Thread thread;

  // Written by close, read by every thread that calls this gate.
  private volatile boolean closed;

  private TcpGate(InetSocketAddress target, PortReservation reservation) throws IOException {
    this.reservation = reservation;
    this.loop = new GateLoop(target, reservation.port());
    this.thread = new Thread(loop, "redlock-gate-" + reservation.port());
    thread.setDaemon(true);
  }

  /** Opens a gate on a free port in front of the given server. The server may start later. */
  public static TcpGate inFrontOf(String host, int port) {
    return inFrontOf(host, port, 0);
  }

  /**
   * Opens a gate on the given port of 127.0.0.1, or on a free one if it is 0.
   *
   * @throws RedisStartException if the port is taken
   */
  public static TcpGate inFrontOf(String host, int port, int gatePort) {
    PortReservation reservation = NodeStarter.reserve(gatePort);
    try {
      TcpGate gate = new TcpGate(new InetSocketAddress(host, port), reservation);
      gate.thread.start();
      return gate;
    } catch (IOException e) {
      reservation.close();
      throw RedisStartException.portTaken(reservation.port(), e);
    }
  }

  /** The port of 127.0.0.1 on which clients connect. */
  public int port() {
    return reservation.port();
  }

  /**
   * Resets all connections and refuses new ones, until {@link #endFaults()}. Bytes that the gate
   * has forwarded before may still be processed by the server; bytes that it held are lost.
   */
  public void cut() {
    apply(loop::cut);
  }

  /**
   * Returns to plain forwarding. Delayed bytes are delivered at once and in order. A connection
   * that lost bytes is reset on both sides, because the rest of its stream is useless. A connection
   * that lost no bytes continues, also after a black hole.
   */
  public void endFaults() {
    apply(loop::endFaults);
  }

  /**
   * Delays bytes in each direction by these times, until {@link #endFaults()}. Order is kept and
   * throughput is not limited. The close of a connection is delayed too; the connect is not.
   * Precise to about 0.2 ms.
   */
  public void delay(Duration toNode, Duration fromNode) {
    if (toNode.isNegative() || fromNode.isNegative()) {
      throw new IllegalArgumentException(
          "Delays must not be negative: " + Printable.of(toNode) + ", " + Printable.of(fromNode));
    }
    apply(
        () -> {
          loop.rules.delayToNodeNanos = toNode.toNanos();
          loop.rules.delayFromNodeNanos = fromNode.toNanos();
        });
  }

  /**
   * Swallows replies until {@link #endFaults()}; requests still reach the server and are executed.
   * Replies that are delayed at the time of the call still arrive. The client does not see the
   * server close its end either.
   */
  public void dropReplies() {
    apply(() -> loop.rules.dropsFromNode = true);
  }

  /**
   * Swallows requests until {@link #endFaults()}, including the client's close of its end. Replies
   * to earlier requests still arrive.
   */
  public void dropRequests() {
    apply(() -> loop.rules.dropsToNode = true);
  }

  /**
   * Swallows all bytes in both directions while connections stay open, until {@link #endFaults()}.
   * This is a half-open link: neither side notices even that the other has closed or died. New
   * connections are accepted and never reach the server.
   */
  public void blackHole() {
    apply(
        () -> {
          loop.rules.dropsToNode = true;
          loop.rules.dropsFromNode = true;
        });
  }

  /** Resets all connections on both sides. New connections are treated as before. */
  public void resetConnections() {
    apply(loop::resetAll);
  }

  /**
   * Forwards this many more bytes of replies, of all connections together, and then {@link #cut()
   * cuts}. A small number cuts in the middle of a reply.
   */
  public void cutAfterReplyBytes(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("Needs at least one byte, got " + bytes);
    }
    apply(() -> loop.rules.replyBudget = bytes);
  }

  /** The number of connections through the gate. */
  public int connections() {
    return loop.links.size();
  }

  /** Describes the current rules of the gate, for a failure message. */
  public String describe() {
    return loop.description() + ", " + loop.links.size() + " connections";
  }

  /** Resets all connections and releases the port. A second call does nothing. */
  @Override
  public synchronized void close() {
    if (!closed && thread.isAlive()) {
      apply(loop::close);
    }
    closed = true;
    reservation.close();
  }

  private void apply(Runnable change) {
    if (closed) {
      throw new IllegalStateException("The gate on port " + port() + " is closed");
    }
    try {
      loop.submit(change).join(); // A fault that was requested is executed to the end.
    } catch (CompletionException e) {
      if (e.getCause() instanceof UncheckedIOException io) {
        throw new UncheckedIOException(io.getMessage(), io.getCause());
      }
      throw new IllegalStateException("The gate on port " + port() + " failed", e.getCause());
    }
  }
}
