package dev.redlock.internal;

import dev.redlock.internal.sets.Members;
import dev.redlock.spi.NodeIdentity;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Checks that the configured nodes are independent servers: two votes of one server, or of a master
 * and its replica, are one vote counted twice. Of two nodes that are not independent, the first to
 * connect is accepted; the second is refused until one of them leads to another server.
 */
final class IndependenceCheck {
  private final NodeSet nodes;

  // Guarded by this. A refused node is not in it, so it does not cause further refusals.
  private final @Nullable Server[] known;

  /** What is known of a server; no identity if the user may not call INFO. */
  private record Server(@Nullable NodeIdentity identity, String markerId) {}

  IndependenceCheck(NodeSet nodes) {
    this.nodes = nodes;
    known = new @Nullable Server[Members.MAX];
  }

  /**
   * Remembers the server of this node; returns why the node must not vote, or null if it may.
   *
   * @param identity null if this user has no permission for INFO; then the markers are compared
   * @param markerId empty if it has no marker
   */
  synchronized @Nullable String check(int node, @Nullable NodeIdentity identity, String markerId) {
    Server server = new Server(identity, markerId);
    known[node] = null;
    for (int other = 0; other < known.length; other++) {
      Server theirs = known[other];
      if (theirs != null && !nodes.isClosed(other)) {
        String objection = relation(server, theirs, nodes.name(other));
        if (objection != null) {
          return objection;
        }
      }
    }
    // A replica is refused anyway. If it connects first, it must not keep its master out.
    known[node] = identity != null && identity.replica() ? null : server;
    return null;
  }

  private static @Nullable String relation(Server one, Server other, String name) {
    if (one.identity() != null && other.identity() != null) {
      return relation(one.identity(), other.identity(), name);
    }
    // A marker is copied with the data, so it is weaker evidence than INFO.
    return !one.markerId().isEmpty() && one.markerId().equals(other.markerId())
        ? ("is the same server as %s, or a copy of its data (both have the marker %s, and this user"
                + " has no permission for INFO, which would distinguish them): nodes must be"
                + " independent masters")
            .formatted(name, one.markerId())
        : null;
  }

  private static @Nullable String relation(NodeIdentity one, NodeIdentity other, String name) {
    if (one.runId().equals(other.runId())) {
      return "is the same server as %s (run id %s): nodes must be independent masters"
          .formatted(name, one.runId());
    }
    if (!one.replicationId().isEmpty()
        && Objects.equals(one.replicationId(), other.replicationId())) {
      return "is in one replication with %s (replication id %s): nodes must be independent masters"
          .formatted(name, one.replicationId());
    }
    if (one.clusterEnabled()
        && other.clusterEnabled()
        && !(one.wholeCluster() && other.wholeCluster())) {
      return "is in cluster mode, and so is %s: nodes of a cluster are not independent masters"
          .formatted(name);
    }
    return null;
  }
}
