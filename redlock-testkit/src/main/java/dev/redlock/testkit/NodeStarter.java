package dev.redlock.testkit;

import dev.redlock.testkit.internal.PortReservation;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Starts one node with its ports and its gate. Retries with other ports if another process took
 * one.
 */
record NodeStarter(ServerFactory servers, boolean gated, Specs specs) {

  private static final int ATTEMPTS = 5;

  /** The settings of the server with this index, on this port. */
  interface Specs {
    ServerSpec of(int index, int port);
  }

  /** Starts the node; clients reach it on the given port, or on a free one if that is 0. */
  RedisNode start(int index, int clientPort) {
    for (int attempt = 1; ; attempt++) {
      try {
        return attempt(index, clientPort);
      } catch (RedisStartException e) {
        if (!e.isPortTaken() || clientPort != 0 || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private RedisNode attempt(int index, int clientPort) {
    PortReservation port = reserve(gated ? 0 : clientPort);
    @Nullable RedisServer server = null;
    @Nullable TcpGate gate = null;
    try {
      server = servers.create(index, specs.of(index, port.port()));
      if (gated) {
        NodeAddress address = server.address();
        gate = TcpGate.inFrontOf(address.host(), address.port(), clientPort);
      }
      RedisNode node = new RedisNode(index, server, gate, port);
      node.start();
      return node;
    } catch (RuntimeException e) {
      if (gate != null) {
        gate.close();
      }
      if (server != null) {
        server.close();
      }
      port.close();
      throw e;
    }
  }

  /** Reserves this port, or a free one if it is 0. */
  static PortReservation reserve(int port) {
    try {
      return PortReservation.of(port);
    } catch (IOException e) {
      throw RedisStartException.portTaken(port, e);
    }
  }
}
