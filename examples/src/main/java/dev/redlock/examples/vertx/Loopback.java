package dev.redlock.examples.vertx;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;

/**
 * A Vert.x cluster of two JVMs on this machine. It uses loopback only and sends nothing to other
 * hosts.
 */
final class Loopback {
  private static final String HERE = "127.0.0.1";
  private static final int PORT = Integer.getInteger("redlock.example.port", 5_801);

  private Loopback() {}

  static Future<Vertx> clustered() {
    Config config = new Config();
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.logging.type", "slf4j");
    config.setProperty("hazelcast.socket.bind.any", "false");
    config.getNetworkConfig().setPort(PORT).setPortCount(2);
    config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface(HERE);
    JoinConfig join = config.getNetworkConfig().getJoin();
    join.getAutoDetectionConfig().setEnabled(false);
    join.getMulticastConfig().setEnabled(false);
    join.getTcpIpConfig()
        .setEnabled(true)
        .addMember(HERE + ":" + PORT)
        .addMember(HERE + ":" + (PORT + 1));
    return Vertx.builder()
        .with(new VertxOptions().setEventBusOptions(new EventBusOptions().setHost(HERE)))
        .withClusterManager(new HazelcastClusterManager(config))
        .buildClustered();
  }
}
