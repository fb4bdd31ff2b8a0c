package dev.redlock.cluster;

import dev.redlock.cluster.internal.Connections;
import dev.redlock.cluster.internal.RoutedNode;
import dev.redlock.cluster.internal.Slots;
import dev.redlock.cluster.internal.Spread;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import java.util.ArrayList;
import java.util.List;

/**
 * One Redis Cluster that acts as several nodes: a quorum over its shards.
 *
 * <pre>{@code
 * Redlock redlock = Redlock.builder()
 *     .nodes(ClusterNodes.spread(3).connect("redis://10.0.0.1:6379"))
 *     .build();
 * }</pre>
 *
 * <p>Each name has one slot for each node. The name alone determines these slots, never the
 * topology. They are on different masters in every usual layout with at least as many masters. A
 * client needs a quorum of them to acquire the lock, and it quarantines a promoted replica ({@link
 * ClusterOptions.Builder#quarantinePromoted}). So a failover that loses writes does not grant the
 * lock twice, and a master that is cut off from the others cannot grant the lock alone. {@code
 * docs/cluster.md} lists the cases that this mode does not cover: clients that did not see the
 * promotion, and a flush of all masters.
 *
 * <p>If two slots of a name are on one master, the vote of the second does not count, and the log
 * and the report of a failed acquire say so. With {@link #allowSharedMasters()} both votes count.
 *
 * <p>All names of a multi-lock must share a hash tag, or at least a slot, as with {@link
 * ClusterLockNode}. All clients of the same locks must use the same number of nodes, and none of
 * them a {@link ClusterLockNode}. Otherwise they store their keys in different slots and do not
 * exclude each other. Immutable.
 */
public final class ClusterNodes {
  private static final String ANY_PREFIX = "redlock";

  private final Spread spread;
  private final boolean sharingAllowed;

  private ClusterNodes(Spread spread, boolean sharingAllowed) {
    this.spread = spread;
    this.sharingAllowed = sharingAllowed;
  }

  /**
   * One cluster as this number of nodes. Three nodes need three masters to be useful, five nodes
   * need five.
   *
   * @throws IllegalArgumentException unless there are 3 or 5
   */
  public static ClusterNodes spread(int nodes) {
    return new ClusterNodes(Spread.over(nodes), false);
  }

  /**
   * If two slots of a name are on one master, counts both votes, and only logs a warning. A
   * failover of that master can then grant the lock twice. Without this option the second vote does
   * not count, and the name needs the votes of the other masters.
   */
  public ClusterNodes allowSharedMasters() {
    return new ClusterNodes(spread, true);
  }

  /**
   * Creates the nodes for the cluster to which these servers belong, with default options. One URI
   * is enough; more URIs help while some servers are down. The nodes share one set of connections,
   * which they open in {@link LockNode#start}, not before. All of them belong to one client.
   *
   * @throws IllegalArgumentException if there is no URI, or a URI cannot be read
   */
  public LockNode[] connect(String... uris) {
    return connect(List.of(uris), ClusterOptions.defaults());
  }

  /**
   * Creates the nodes for the cluster to which these servers belong. The name of a node is the name
   * of the cluster, if the options have one, and the range of its slots.
   *
   * @throws IllegalArgumentException if there is no URI, or a URI cannot be read; the message
   *     contains no password
   */
  public LockNode[] connect(List<String> uris, ClusterOptions options) {
    if (uris.isEmpty()) {
      throw new IllegalArgumentException("a cluster needs the URI of at least one of its servers");
    }
    List<NodeUri> seeds = uris.stream().map(NodeUri::parse).toList();
    String name = options.name().isEmpty() ? "cluster" : options.name();
    Connections connections = new Connections(name, seeds, options, spread, sharingAllowed);
    LockNode[] nodes = new LockNode[spread.nodes()];
    for (int node = 0; node < nodes.length; node++) {
      nodes[node] = new RoutedNode(name + " slots " + range(node), node, connections);
    }
    return nodes;
  }

  private String range(int node) {
    return spread.first(node) + "-" + spread.last(node);
  }

  /**
   * Where one node stores a lock, for operators.
   *
   * @param slots the range of the slots of the node, as in its name
   * @param slot the slot of the lock, 0 to 16383
   * @param lockKey the key of the lock, with the default prefix {@code redlock}
   */
  public record Place(String slots, int slot, String lockKey) {}

  /**
   * Returns where each node stores the lock of this name. Needs no connection: the name alone
   * determines it.
   *
   * @throws IllegalArgumentException if no lock may have this name
   */
  public List<Place> locate(String name) {
    LockKeys keys = LockKeys.of(ANY_PREFIX, List.of(name));
    List<Place> places = new ArrayList<>();
    for (int node = 0; node < spread.nodes(); node++) {
      LockKeys its = spread.keysAt(node, keys);
      places.add(new Place(range(node), Slots.of(its, 0), its.lockKey(0)));
    }
    return places;
  }

  @Override
  public String toString() {
    return "spread over " + spread.nodes() + " nodes" + (sharingAllowed ? ", shared masters" : "");
  }
}
