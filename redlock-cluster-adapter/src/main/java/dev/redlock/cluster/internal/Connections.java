package dev.redlock.cluster.internal;

import dev.redlock.cluster.ClusterOptions;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.spi.LockNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One set of connections to a cluster, for one node or for all nodes over which the cluster is
 * spread. The first start of a node makes the {@link Masters}; the close of the last started node
 * closes them. Safe from any thread.
 */
public final class Connections {
  private final String name;
  private final List<NodeUri> seeds;
  private final ClusterOptions options;
  private final Spread spread;
  private final boolean sharingAllowed;

  // Guarded by this.
  private @Nullable Masters masters;
  private boolean closed;

  private Connections(
      String name,
      List<NodeUri> seeds,
      ClusterOptions options,
      Spread spread,
      boolean sharingAllowed) {
    this.name = name;
    this.seeds = seeds;
    this.options = options;
    this.spread = spread;
    this.sharingAllowed = sharingAllowed;
  }

  /** For one node. */
  public static Connections ofOne(String name, List<NodeUri> seeds, ClusterOptions options) {
    return new Connections(name, seeds, options, Spread.NONE, true);
  }

  /**
   * For the nodes of a spread cluster.
   *
   * @param sharingAllowed whether two votes of one master on the same names count
   */
  public static Connections ofSpread(
      String name,
      List<NodeUri> seeds,
      ClusterOptions options,
      Spread spread,
      boolean sharingAllowed) {
    return new Connections(name, seeds, options, spread, sharingAllowed);
  }

  ClusterOptions options() {
    return options;
  }

  /** A node that has been started, and the connections that serve it. */
  record Started(Masters masters, Share share, boolean first) {}

  synchronized Started start(LockNode self, int node, LockNode.Context context) {
    if (closed) {
      throw new IllegalStateException(self.name() + " belongs to a client that was closed");
    }
    Masters known = masters;
    boolean first = known == null;
    if (known == null) {
      known = new Masters(name, seeds, options, spread, sharingAllowed, context);
    }
    Share share = known.shares().add(self, node, context);
    masters = known;
    return new Started(known, share, first);
  }

  void close(Started started) {
    if (started.masters.shares().close(started.share)) {
      synchronized (this) {
        closed = true;
      }
      started.masters.close();
    }
  }
}
