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

  /**
   * Connections that are not open yet.
   *
   * @param spread {@link Spread#NONE} for one node
   * @param sharingAllowed whether two votes of one master on the same names count
   */
  public Connections(
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

  ClusterOptions options() {
    return options;
  }

  /** The masters, for a node that starts. */
  synchronized Masters masters(String node, LockNode.Context context) {
    if (closed) {
      throw new IllegalStateException(node + " belongs to a client that was closed");
    }
    Masters known = masters;
    if (known == null) {
      known = new Masters(name, seeds, options, spread, sharingAllowed, context);
      masters = known;
    }
    return known;
  }

  void close(Masters used, Share share) {
    if (used.shares().close(share)) {
      synchronized (this) {
        closed = true;
      }
      used.close();
    }
  }
}
