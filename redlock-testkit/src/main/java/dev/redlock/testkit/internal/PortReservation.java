package dev.redlock.testkit.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.Locale;

/**
 * Keeps a loopback port for one server over all its restarts.
 *
 * <p>On Linux, a socket that is bound with SO_REUSEADDR and does not listen keeps the port from
 * every process that does not request it by number. A server can still listen there; while none
 * listens, connections are refused. On other systems a second bind would fail, so this class only
 * finds a free port, and the caller must expect that the port is taken when it starts a server
 * there.
 */
public final class PortReservation implements AutoCloseable {

  private static final boolean CAN_HOLD =
      System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("linux");

  private final SocketChannel socket;
  private final int port;

  private PortReservation(SocketChannel socket, int port) {
    this.socket = socket;
    this.port = port;
  }

  /** Reserves some free port. */
  public static PortReservation any() {
    try {
      return of(0);
    } catch (IOException e) {
      throw new UncheckedIOException("No free port on 127.0.0.1", e);
    }
  }

  /** Reserves this port, or a free one if it is 0. */
  public static PortReservation of(int port) throws IOException {
    SocketChannel socket = SocketChannel.open();
    try {
      socket.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      socket.bind(loopback(port));
      int bound = ((InetSocketAddress) socket.getLocalAddress()).getPort();
      if (!CAN_HOLD) {
        socket.close();
      }
      return new PortReservation(socket, bound);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  public static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(LOOPBACK, port);
  }

  private static final InetAddress LOOPBACK = loopbackAddress();

  private static InetAddress loopbackAddress() {
    try {
      return InetAddress.getByAddress("127.0.0.1", new byte[] {127, 0, 0, 1});
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  public int port() {
    return port;
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
