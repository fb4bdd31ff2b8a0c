package dev.redlock.vertx;

import com.hazelcast.config.Config;
import dev.redlock.testkit.TcpGate;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.spi.cluster.ClusterManager;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Vert.x clusters of two members on this machine only: loopback, without multicast. */
final class Clusters {
  private Clusters() {}

  /**
   * The manager of one of the two members.
   *
   * @param member 0 or 1
   * @param port the first of two ports that are free
   */
  private static ClusterManager manager(int member, int port) {
    Config config = new Config();
    config.setClusterName("it-" + port);
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.logging.type", "slf4j");
    config.setProperty("hazelcast.shutdownhook.enabled", "false");
    config.setProperty("hazelcast.socket.bind.any", "false");
    config.setProperty("hazelcast.wait.seconds.before.join", "0");
    config.getNetworkConfig().setPort(port + member).setPortAutoIncrement(false);
    config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
    config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
    config
        .getNetworkConfig()
        .getJoin()
        .getTcpIpConfig()
        .setEnabled(true)
        .addMember("127.0.0.1:" + port)
        .addMember("127.0.0.1:" + (port + 1));
    return new HazelcastClusterManager(config);
  }

  /** A member whose bus other members reach through the gate. */
  static VertxBuilder clustered(int member, int port, TcpGate gate, int busPort) {
    VertxOptions options =
        CheckedVertx.options()
            .setEventBusOptions(
                new EventBusOptions()
                    .setHost("127.0.0.1")
                    .setPort(busPort)
                    .setClusterPublicHost("127.0.0.1")
                    .setClusterPublicPort(gate.port())
                    .setClusterPingInterval(1_000)
                    .setClusterPingReplyInterval(1_000));
    return Vertx.builder().with(options).withClusterManager(manager(member, port));
  }

  /** A port that is free now. */
  static int freePort() {
    try (java.net.ServerSocket socket = new java.net.ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
