package dev.redlock.vertx;

import com.hazelcast.config.Config;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;

/** A Vert.x cluster of this machine alone: loopback, no multicast, nobody told of it. */
final class Hazelcasts {
  private Hazelcasts() {}

  static VertxBuilder clustered(int port, String cluster) {
    Config config = new Config();
    config.setClusterName(cluster);
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.logging.type", "slf4j");
    config.setProperty("hazelcast.shutdownhook.enabled", "false");
    config.setProperty("hazelcast.socket.bind.any", "false");
    config.getNetworkConfig().setPort(port).setPortCount(2).setPortAutoIncrement(true);
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
    VertxOptions options =
        CheckedVertx.options().setEventBusOptions(new EventBusOptions().setHost("127.0.0.1"));
    return Vertx.builder().with(options).withClusterManager(new HazelcastClusterManager(config));
  }
}
