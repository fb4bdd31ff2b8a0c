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
enum Clusters {
  HAZELCAST {
    @Override
    ClusterManager manager(int member, int port) {
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
  },
  INFINISPAN {
    @Override
    ClusterManager manager(int member, int port) {
      System.setProperty("redlock.port", "" + (port + member));
      System.setProperty("redlock.hosts", "127.0.0.1[" + port + "],127.0.0.1[" + (port + 1) + "]");
      System.setProperty("redlock.cluster", "it-" + port);
      System.setProperty("java.net.preferIPv4Stack", "true");
      System.setProperty("vertx.infinispan.config", "infinispan-loopback.xml");
      try {
        // By its name: javac warns about annotations in the classes that it refers to.
        return Class.forName("io.vertx.ext.cluster.infinispan.InfinispanClusterManager")
            .asSubclass(ClusterManager.class)
            .getConstructor()
            .newInstance();
      } catch (ReflectiveOperationException e) {
        throw new LinkageError("the cluster manager of Infinispan cannot be made", e);
      }
    }
  };

  /**
   * The manager of one of the two members.
   *
   * @param member 0 or 1
   * @param port the first of two ports that are free
   */
  abstract ClusterManager manager(int member, int port);

  /** A member whose bus other members reach through the gate. */
  VertxBuilder clustered(int member, int port, TcpGate gate, int busPort) {
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
