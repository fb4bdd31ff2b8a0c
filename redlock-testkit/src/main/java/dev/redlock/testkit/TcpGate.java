package dev.redlock.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A gate in front of a server: a port of this JVM on 127.0.0.1 through which clients reach the
 * server, and at which a test can cut, delay or swallow what passes. The port stays the same,
 * whatever happens to the gate or the server.
 *
 * <p>A call returns when it has taken effect on all existing connections and holds for new ones. It
 * applies to what arrives after the call: bytes that had reached the gate before are passed on as
 * was the rule then.
 *
 * <p>What different calls ask for adds up ({@link #dropRequests()} after {@link #dropReplies()} is
 * a {@link #blackHole()}; delays go with both) until {@link #heal()}; only {@link #cut()} replaces
 * all else.
 *
 * <p>An open gate forwards at once, whatever closes one side also closes the other in the same
 * manner (orderly or by reset), and bytes never overtake each other. What cannot be played: the
 * gate completes a client's TCP handshake itself. So a client behind a black hole gets a connection
 * and then no answer, rather than no connection; and one whose node is dead gets a connection and
 * then a reset, rather than a refusal.
 *
 * <p>All methods may be called from any thread. One daemon thread serves a gate.
 */
public final class TcpGate implements AutoCloseable {

  private final PortReservation reservation;
  private final GateLoop loop;
  private final Thread thread;

  // Written by close, read by whoever gives an order.
  private volatile boolean closed;

  private TcpGate(InetSocketAddress target, PortReservation reservation) throws IOException {
    this.reservation = reservation;
    this.loop = new GateLoop(target, reservation.port());
    this.thread = new Thread(loop, "redlock-gate-" + reservation.port());
    thread.setDaemon(true);
  }

  /** Opens a gate on a free port in front of the given server, which need not run yet. */
  public static TcpGate inFrontOf(String host, int port) {
    return inFrontOf(host, port, 0);
  }

  /**
   * Opens a gate on the given port of 127.0.0.1, or on a free one if it is 0.
   *
   * @throws RedisStartException if the port is taken
   */
  public static TcpGate inFrontOf(String host, int port, int gatePort) {
    PortReservation reservation = PortReservation.of(gatePort);
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
   * Resets all connections and refuses new ones, until {@link #heal()}. Bytes that the gate has
   * passed on before are with the server and may be acted upon; bytes it still held are gone.
   */
  public void cut() {
    apply(loop::cut);
  }

  /**
   * Back to plain forwarding. Delayed bytes are delivered at once and in order. A connection of
   * which anything was swallowed is reset on both sides: the rest of its stream would make no
   * sense. Connections that lost nothing live on, also through a black hole.
   */
  public void heal() {
    apply(loop::heal);
  }

  /**
   * From now on bytes arrive this much later, in either direction, until {@link #heal()}. Order is
   * kept and throughput is not limited; also the closing of a connection is delayed. Connecting is
   * not: only the first request and its reply are. Precise to about 0.2 ms.
   */
  public void delay(Duration toNode, Duration fromNode) {
    if (toNode.isNegative() || fromNode.isNegative()) {
      throw new IllegalArgumentException(
          "Delays must not be negative: " + toNode + ", " + fromNode);
    }
    apply(
        () -> {
          loop.rules().delayToNodeNanos = toNode.toNanos();
          loop.rules().delayFromNodeNanos = fromNode.toNanos();
        });
  }

  /**
   * Requests go through and are executed, their replies vanish, until {@link #heal()}. Replies that
   * were only delayed so far still arrive. The client also does not learn that the server closes
   * its end.
   */
  public void dropReplies() {
    apply(() -> loop.rules().dropsFromNode = true);
  }

  /**
   * Requests vanish, also a client's closing of its end; replies to earlier requests still arrive,
   * until {@link #heal()}.
   */
  public void dropRequests() {
    apply(() -> loop.rules().dropsToNode = true);
  }

  /**
   * Swallows everything in both directions while connections stay up, until {@link #heal()}: a
   * half-open link, where neither side learns anything, not even that the other has closed or died.
   * New connections are accepted and never reach the server.
   */
  public void blackHole() {
    apply(
        () -> {
          loop.rules().dropsToNode = true;
          loop.rules().dropsFromNode = true;
        });
  }

  /** Resets all connections, on both sides; new ones are welcome if they were before. */
  public void resetConnections() {
    apply(loop::resetAll);
  }

  /**
   * Lets this many more bytes of replies through, of all connections together, and then {@link
   * #cut() cuts}: with a small number in the middle of a reply.
   */
  public void cutAfterReplyBytes(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("Needs at least one byte, got " + bytes);
    }
    apply(() -> loop.rules().replyBudget = bytes);
  }

  /** How many connections go through the gate. */
  public int connections() {
    return loop.linkCount();
  }

  /** What the gate does at present, in words for a failure message. */
  public String describe() {
    return loop.description() + ", " + loop.linkCount() + " connections";
  }

  /** Resets all connections and gives the port up. A second call does nothing. */
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
    FutureTask<?> order = loop.order(change);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          if (!thread.isAlive() && !order.isDone()) {
            throw new IllegalStateException("The gate on port " + port() + " has broken down");
          }
          order.get(100, TimeUnit.MILLISECONDS);
          return;
        } catch (InterruptedException e) {
          interrupted = true; // a fault that was asked for is carried through
        } catch (TimeoutException e) {
          // Look whether the loop still lives.
        }
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UncheckedIOException io) {
        throw new UncheckedIOException(io.getMessage(), io.getCause());
      }
      throw new IllegalStateException("The gate on port " + port() + " failed", e.getCause());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
