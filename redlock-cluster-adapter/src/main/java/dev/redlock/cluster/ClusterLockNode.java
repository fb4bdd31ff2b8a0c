package dev.redlock.cluster;

import dev.redlock.cluster.internal.Connections;
import dev.redlock.cluster.internal.RoutedNode;
import dev.redlock.cluster.internal.Spread;
import dev.redlock.lettuce.internal.NodeUri;
import java.util.List;

/**
 * One Redis Cluster that acts as a single node. A single cluster is a quorum of one. Several
 * clusters can be the nodes of one lock.
 *
 * <pre>{@code
 * Redlock redlock = Redlock.builder().nodes(ClusterLockNode.connect("redis://10.0.0.1:6379")).build();
 * }</pre>
 *
 * <p>A cluster replicates asynchronously. A failover can therefore lose a lease that its holder
 * still trusts, and the promoted replica can grant the lock to another client. {@code
 * docs/cluster.md} says when this happens and which settings help. This cannot happen with
 * independent masters.
 *
 * <p>The node sends requests for a name to the master of its slot. It follows redirections for 80
 * ms; after that the vote is silent. All names of a multi-lock must share a slot. Safe from any
 * thread.
 */
@SuppressWarnings("exports") // Of the class that it extends, a user sees the methods of LockNode.
public final class ClusterLockNode extends RoutedNode {

  private ClusterLockNode(String name, Connections connections) {
    super(name, 0, connections);
  }

  /**
   * Creates the node for the cluster to which these servers belong, with default options. One URI
   * is enough; more URIs help while some servers are down. The node connects in {@link #start}, not
   * before.
   *
   * @throws IllegalArgumentException if there is no URI, or a URI cannot be read
   */
  public static ClusterLockNode connect(String... uris) {
    return connect(List.of(uris), ClusterOptions.defaults());
  }

  /**
   * Creates the node for the cluster to which these servers belong.
   *
   * @throws IllegalArgumentException if there is no URI, or a URI cannot be read; the message
   *     contains no password
   */
  public static ClusterLockNode connect(List<String> uris, ClusterOptions options) {
    if (uris.isEmpty()) {
      throw new IllegalArgumentException("a cluster needs the URI of at least one of its servers");
    }
    List<NodeUri> seeds = uris.stream().map(NodeUri::parse).toList();
    String name =
        options.name().isEmpty()
            ? "cluster " + seeds.stream().map(NodeUri::name).sorted().findFirst().orElseThrow()
            : options.name();
    return new ClusterLockNode(name, new Connections(name, seeds, options, Spread.NONE, true));
  }
}
