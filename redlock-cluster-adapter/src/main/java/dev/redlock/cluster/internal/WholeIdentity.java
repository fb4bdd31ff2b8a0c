package dev.redlock.cluster.internal;

import dev.redlock.spi.NodeIdentity;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** What a cluster says about itself: what its masters say, taken together. Pure. */
final class WholeIdentity {
  /** From the one that loses most to the one that loses nothing; unknown is worse still. */
  private static final List<String> SYNCING = List.of("no", "everysec", "always");

  private WholeIdentity() {}

  /** The cluster of these masters; empty while none of them is known. */
  static Optional<NodeIdentity> of(String clusterId, Collection<NodeIdentity> masters) {
    return masters.stream()
        .reduce(WholeIdentity::together)
        .map(
            all ->
                new NodeIdentity(
                    clusterId,
                    all.product(),
                    all.version(),
                    all.uptimeSeconds(),
                    "cluster",
                    true,
                    all.maxmemoryPolicy(),
                    "",
                    0, // Replicas are what a cluster is for: no finding.
                    all.appendOnly(),
                    all.appendFsync(),
                    all.evictedKeys(),
                    all.writeTrouble()));
  }

  /** The worse of both in each respect. */
  private static NodeIdentity together(NodeIdentity one, NodeIdentity other) {
    return new NodeIdentity(
        one.runId(),
        one.product(),
        one.version(),
        Math.min(one.uptimeSeconds(), other.uptimeSeconds()),
        one.role(),
        true,
        one.maxmemoryPolicy().equals("noeviction")
            ? other.maxmemoryPolicy()
            : one.maxmemoryPolicy(),
        "",
        0,
        one.appendOnly() && other.appendOnly(),
        SYNCING.indexOf(one.appendFsync()) < SYNCING.indexOf(other.appendFsync())
            ? one.appendFsync()
            : other.appendFsync(),
        one.evictedKeys() + other.evictedKeys(),
        one.writeTrouble().isEmpty() ? other.writeTrouble() : one.writeTrouble());
  }
}
