package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.spi.RestartGuard;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A close while an event loop connects leaves no open socket.
 *
 * <p>The test holds an event loop at the worst moment. Lettuce calls the user's customizer on the
 * event loop, while it sets a channel up. The first channel of a loop waits there until all
 * channels are requested. So the loop sets up a second channel before it connects the first, and
 * there it waits for the close. After that it connects the first channel, in the same turn in which
 * it learns of the shutdown.
 */
class CloseWhileConnectingIT {
  /** One more than the event loops, so that at least one of them has two channels. */
  private static final int NODES = DefaultClientResources.DEFAULT_IO_THREADS + 1;

  private static final int PATIENCE_SECONDS = 10;

  private final CountDownLatch requested = new CountDownLatch(1);
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Set<Thread> loops = ConcurrentHashMap.newKeySet();
  private final List<ServerSocket> silent = new ArrayList<>();
  private ClientResources resources;
  private LettuceOptions options;
  private List<String> uris;

  @BeforeEach
  void listen() throws IOException {
    resources =
        ClientResources.builder()
            .nettyCustomizer(
                new NettyCustomizer() {
                  @Override
                  public void afterChannelInitialized(Channel channel) {
                    hold();
                  }
                })
            .build();
    options = LettuceOptions.builder().clientResources(resources).build();
    for (int i = 0; i < NODES; i++) {
      silent.add(new ServerSocket(0, 10, InetAddress.getLoopbackAddress()));
    }
    uris = silent.stream().map(server -> "redis://127.0.0.1:" + server.getLocalPort()).toList();
  }

  @AfterEach
  void end() throws IOException {
    requested.countDown();
    closed.countDown();
    for (ServerSocket server : silent) {
      server.close();
    }
    resources.shutdown(0, 1, TimeUnit.SECONDS);
  }

  private void hold() {
    try {
      if (loops.add(Thread.currentThread())) {
        requested.await();
      } else {
        held.countDown();
        closed.await();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void nodes_closedWhileTheyConnect_leaveNoSocket() throws Exception {
    RedlockBuilder builder = Redlock.builder().restartGuard(RestartGuard.OFF);
    LettuceNodes.standalone(uris, options).forEach(builder::nodes);
    closeWhileConnecting(builder.build()::close);
  }

  private void closeWhileConnecting(Runnable close) throws Exception {
    requested.countDown();
    assertThat(held.await(PATIENCE_SECONDS, TimeUnit.SECONDS)).as("a loop is held").isTrue();
    close.run();
    closed.countDown();
    for (ServerSocket server : silent) {
      awaitEnds(server);
    }
  }

  private static void awaitEnds(ServerSocket server) throws IOException {
    server.setSoTimeout(500); // Connections on loopback are here at once, if they are made at all.
    while (true) {
      Socket connection;
      try {
        connection = server.accept();
      } catch (SocketTimeoutException e) {
        return;
      }
      try (connection) {
        connection.setSoTimeout((int) TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
        connection.getInputStream().readAllBytes();
      } catch (SocketTimeoutException e) {
        throw new AssertionError("the closed client left a socket open: " + connection, e);
      }
    }
  }
}
