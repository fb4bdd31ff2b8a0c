package dev.redlock.internal;

import dev.redlock.spi.NodeIdentity;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that the configured nodes are servers of their own: two votes of one server, or of a
 * master and its replica, are one vote counted twice. Which of two addresses came first does not
 * matter, so the first is believed and the second refused until one of them leads elsewhere.
 */
final class Siblings {
  private final NodeSet nodes;

  // Guarded by this. What was refused is not in it, and so refuses nobody.
  private final @Nullable NodeIdentity[] known;

  Siblings(NodeSet nodes) {
    this.nodes = nodes;
    known = new @Nullable NodeIdentity[nodes.count()];
  }

  /** Remembers who this node is; returns why it must not vote, or null if there is no reason. */
  synchronized @Nullable String meet(int node, NodeIdentity identity) {
    known[node] = null;
    for (int other = 0; other < known.length; other++) {
      NodeIdentity theirs = known[other];
      if (theirs != null) {
        String objection = relation(identity, theirs);
        if (objection != null) {
          return objection.formatted(nodes.name(other));
        }
      }
    }
    // A replica is refused for what it is, and must not keep its master out by having come first.
    known[node] = identity.replica() ? null : identity;
    return null;
  }

  private static @Nullable String relation(NodeIdentity one, NodeIdentity other) {
    if (one.runId().equals(other.runId())) {
      return "is the same server as %s (run id " + one.runId() + "): every node must be its own";
    }
    if (!one.replicationId().isEmpty()
        && Objects.equals(one.replicationId(), other.replicationId())) {
      return "is in one replication with %s (replication id "
          + one.replicationId()
          + "): nodes must be independent masters";
    }
    if (one.clusterEnabled()
        && other.clusterEnabled()
        && !(one.wholeCluster() && other.wholeCluster())) {
      return "is in cluster mode, and so is %s: nodes of a cluster are not independent masters";
    }
    return null;
  }
}
