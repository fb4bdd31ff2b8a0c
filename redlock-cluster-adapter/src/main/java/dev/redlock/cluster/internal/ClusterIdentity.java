package dev.redlock.cluster.internal;

import dev.redlock.spi.NodeIdentity;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** Merges the identities of the masters into the identity of the cluster. Pure. */
final class ClusterIdentity {
  /**
   * From the setting that can lose most to the one that loses nothing. An unknown setting (index
   * −1) is the worst.
   */
  private static final List<String> SYNCING = List.of("no", "everysec", "always");

  private ClusterIdentity() {}

  /** The identity of the cluster of these masters; empty while no master is known. */
  static Optional<NodeIdentity> of(String clusterId, Collection<NodeIdentity> masters) {
    return masters.stream()
        .reduce(ClusterIdentity::together)
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
                    0, // Replicas are normal in a cluster: no finding.
                    all.appendOnly(),
                    all.appendFsync(),
                    all.evictedKeys(),
                    all.writeTrouble(),
                    false, // A promotion is normal in a cluster.
                    all.usedMemory(),
                    all.maxMemory(),
                    ""));
  }

  /** The worse value of both in each field. */
  private static NodeIdentity together(NodeIdentity one, NodeIdentity other) {
    NodeIdentity fuller = fullness(one) >= fullness(other) ? one : other;
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
        one.writeTrouble().isEmpty() ? other.writeTrouble() : one.writeTrouble(),
        false,
        fuller.usedMemory(),
        fuller.maxMemory(),
        "");
  }

  private static double fullness(NodeIdentity master) {
    return master.maxMemory() == 0 ? 0 : (double) master.usedMemory() / master.maxMemory();
  }
}
