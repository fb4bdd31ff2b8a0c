package dev.redlock.it.security;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A proxy in front of a server. It ends a connection whose credentials are too old, as managed
 * services do: a connection must repeatedly send a password of the test. All other bytes pass.
 */
final class CuttingProxy implements AutoCloseable {
  private final int serverPort;
  private final byte[] sign;
  private final long patienceNanos;
  private final ServerSocket listening;
  private final Queue<Link> links = new ConcurrentLinkedQueue<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger cut = new AtomicInteger();
  private final AtomicInteger logins = new AtomicInteger();

  /**
   * @param sign how each password begins
   * @param patience how long a connection lives after it has sent one
   */
  CuttingProxy(int serverPort, String sign, Duration patience) throws IOException {
    this.serverPort = serverPort;
    this.sign = sign.getBytes(ISO_8859_1);
    this.patienceNanos = patience.toNanos();
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    daemon(this::accept);
    daemon(this::watch);
  }

  String uri() {
    return "redis://127.0.0.1:" + listening.getLocalPort();
  }

  /** How often a client has connected. */
  int connections() {
    return connections.get();
  }

  /** How many connections were ended because their credentials were too old. */
  int cut() {
    return cut.get();
  }

  /** How often a password was sent. */
  int logins() {
    return logins.get();
  }

  private final class Link {
    final Socket client;
    final Socket server;
    volatile long loginNanos = System.nanoTime();

    Link(Socket client) throws IOException {
      this.client = client;
      server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
    }

    void start() {
      daemon(() -> copy(client, server, true));
      daemon(() -> copy(server, client, false));
    }

    private void copy(Socket from, Socket to, boolean fromClient) {
      byte[] buffer = new byte[65_536];
      int matched = 0;
      try (from;
          to) {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          for (int i = 0; fromClient && i < n; i++) {
            matched = buffer[i] == sign[matched] ? matched + 1 : buffer[i] == sign[0] ? 1 : 0;
            if (matched == sign.length) {
              matched = 0;
              loginNanos = System.nanoTime();
              logins.incrementAndGet();
            }
          }
          out.write(buffer, 0, n);
        }
      } catch (IOException e) {
        // One side has disconnected, so both sockets are closed.
      } finally {
        links.remove(this);
      }
    }

    void close() {
      try (client;
          server) {
        links.remove(this);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Link link = new Link(listening.accept());
        connections.incrementAndGet();
        links.add(link);
        link.start();
      } catch (IOException e) {
        return; // Closed.
      }
    }
  }

  private void watch() {
    while (!listening.isClosed()) {
      for (Link link : links) {
        if (System.nanoTime() - link.loginNanos > patienceNanos) {
          cut.incrementAndGet();
          link.close();
        }
      }
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "cutting proxy");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    links.forEach(Link::close);
  }
}
