package dev.redlock.testkit;

import dev.redlock.testkit.internal.PortReservation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Starts one server in cluster mode with its ports and its gate. The server knows no other node
 * yet.
 */
record ClusterNodeStarter(
    ServerFactory servers,
    boolean gated,
    Duration nodeTimeout,
    IntFunction<List<String>> serverArgs) {

  private static final int ATTEMPTS = 5;

  /** The node, and the port for the other nodes of the cluster. */
  record Started(RedisNode node, PortReservation bus) {}

  Started start(int index) {
    for (int attempt = 1; ; attempt++) {
      try {
        return attempt(index);
      } catch (RedisStartException e) {
        if (!e.isPortTaken() || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private Started attempt(int index) {
    PortReservation port = PortReservation.any();
    PortReservation bus = PortReservation.any();
    @Nullable RedisServer server = null;
    @Nullable TcpGate gate = null;
    try {
      // The gate opens before the server starts, because the server must report the gate's port to
      // its clients.
      gate = gated ? TcpGate.inFrontOf("127.0.0.1", port.port(), 0) : null;
      server =
          servers.create(index, new ServerSpec(port.port(), false, "", "", args(index, bus, gate)));
      if (!(server instanceof ProcessServer)) {
        throw new RedisStartException(
            "a cluster needs servers on ports of this machine, not " + servers.description());
      }
      RedisNode node = new RedisNode(index, server, gate, port);
      node.start();
      return new Started(node, bus);
    } catch (RuntimeException e) {
      if (gate != null) {
        gate.close();
      }
      if (server != null) {
        server.close();
      }
      port.close();
      bus.close();
      throw e;
    }
  }

  private List<String> args(int index, PortReservation bus, @Nullable TcpGate gate) {
    List<String> args = new ArrayList<>(List.of("--cluster-enabled", "yes"));
    // The file is not in the data directory, so a node that restarts empty is still the same node
    // of the cluster.
    args.addAll(List.of("--cluster-config-file", "../nodes.conf"));
    args.addAll(List.of("--cluster-port", Integer.toString(bus.port())));
    args.addAll(List.of("--cluster-node-timeout", Long.toString(nodeTimeout.toMillis())));
    args.addAll(List.of("--cluster-announce-ip", "127.0.0.1"));
    // A replica must synchronize at once, and be promotable however long it was disconnected.
    args.addAll(List.of("--repl-diskless-sync-delay", "0"));
    args.addAll(List.of("--cluster-replica-validity-factor", "0"));
    args.addAll(List.of("--cluster-allow-replica-migration", "no"));
    if (gate != null) {
      args.addAll(List.of("--cluster-announce-port", Integer.toString(gate.port())));
    }
    args.addAll(serverArgs.apply(index));
    return args;
  }
}
