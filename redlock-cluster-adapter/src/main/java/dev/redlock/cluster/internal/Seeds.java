package dev.redlock.cluster.internal;

import dev.redlock.lettuce.internal.NodeUri;
import io.lettuce.core.RedisURI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The configured servers of the cluster, and the URIs of those that the cluster names: an address
 * comes without credentials and without TLS. Safe from any thread.
 */
final class Seeds {
  private final List<NodeUri> all;

  /** The seed whose credentials serve for servers that are no seeds. */
  private volatile NodeUri model;

  Seeds(List<NodeUri> all) {
    this.all = all;
    model = all.get(0);
  }

  List<NodeUri> all() {
    return all;
  }

  /**
   * The topology came from this server.
   *
   * @param from null if it came over the connection to a master
   */
  void onTopology(@Nullable NodeUri from) {
    if (from != null && all.contains(from)) {
      model = from;
    }
  }

  /** The seed with this address; otherwise like the seed that reported the topology. */
  NodeUri uriOf(Address address) {
    for (NodeUri seed : all) {
      RedisURI uri = seed.toRedisUri();
      if (uri.getPort() == address.port() && address.host().equalsIgnoreCase(uri.getHost())) {
        return seed;
      }
    }
    RedisURI like = model.toRedisUri();
    like.setHost(address.host());
    like.setPort(address.port());
    return NodeUri.of(like);
  }
}
