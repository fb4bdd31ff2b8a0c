package dev.redlock.operations;

import dev.redlock.internal.text.Printable;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The findings of {@link Operations#doctor()}.
 *
 * @param restartGuard how this client keeps out nodes that may have forgotten leases; the state of
 *     a node says how long it still stays out
 * @param nodes each node's findings, in the order of configuration
 */
public record Diagnosis(RestartGuard restartGuard, List<NodeFindings> nodes) {

  public Diagnosis {
    nodes = List.copyOf(nodes);
  }

  /**
   * One node's findings.
   *
   * @param node its state
   * @param server product and version, such as {@code redis 7.0.15}; null if unknown
   * @param role {@code master} or {@code slave}; null if unknown
   * @param evictionPolicy {@code noeviction} is safe for locks; null if unknown
   * @param uptime the uptime that the server reports; null if unknown
   * @param appendOnly whether it keeps an append-only file
   * @param appendFsync how it syncs this file: {@code always}, {@code everysec} or {@code no}; null
   *     if there is no such file, or if this user may not call {@code CONFIG GET}
   * @param evictedKeys how many keys it has evicted since its start
   * @param replicas how many replicas are attached
   * @param clockSkew how far its clock is ahead of the median of all nodes; null if unknown
   * @param complaints what an operator should change, in sentences; empty if nothing
   */
  public record NodeFindings(
      NodeState node,
      @Nullable String server,
      @Nullable String role,
      @Nullable String evictionPolicy,
      @Nullable Duration uptime,
      boolean appendOnly,
      @Nullable String appendFsync,
      long evictedKeys,
      int replicas,
      @Nullable Duration clockSkew,
      List<String> complaints) {

    public NodeFindings {
      complaints = List.copyOf(complaints);
    }
  }

  /** What an operator should change about the set of nodes, in sentences; empty if nothing. */
  public List<String> complaints() {
    int n = nodes.size();
    if (n == 0 || n % 2 != 0) {
      return List.of();
    }
    int failures = (n - 1) / 2;
    return List.of(
        ("%s nodes tolerate %s, no more than %s nodes do: an odd number of nodes is better,"
                + " such as %s")
            .formatted(n, failures == 1 ? "1 failure" : failures + " failures", n - 1, n + 1));
  }

  /** Whether there is no complaint, neither about a node nor about the set of nodes. */
  public boolean healthy() {
    return complaints().isEmpty() && nodes.stream().allMatch(node -> node.complaints().isEmpty());
  }

  @Override
  public String toString() {
    return Stream.concat(
            nodes.stream().map(this::line), complaints().stream().map(text -> "all nodes: " + text))
        .collect(Collectors.joining("\n"));
  }

  private String line(NodeFindings n) {
    int pending = n.node().pendingReleases();
    return n.node().node()
        + " "
        + n.node().state()
        + remaining(n.node().remaining())
        + ", "
        + (n.server() == null ? "unknown server" : n.server())
        + (n.uptime() == null ? "" : " up for " + n.uptime().toSeconds() + " s")
        + (n.role() == null ? "" : ", " + n.role())
        + (n.evictionPolicy() == null ? "" : ", " + n.evictionPolicy())
        + (n.server() == null ? "" : ", " + persistence(n))
        + ", guard "
        + restartGuard
        + (n.clockSkew() == null ? "" : ", clock " + n.clockSkew().toMillis() + " ms")
        + set(n.node().record())
        + (pending == 0 ? "" : ", " + pending + " releases pending")
        + (n.complaints().isEmpty() ? ": well" : ": " + n.complaints());
  }

  private static String set(@Nullable NodeRecord record) {
    if (record == null) {
      return "";
    }
    int members = record.members().size();
    String floor = record.isSealed() ? "" : " (floor " + record.floor() + ")";
    return ", epoch %s%s of %s"
        .formatted(record.epoch(), floor, members == 1 ? "1 node" : members + " nodes");
  }

  private static String remaining(Duration quarantine) {
    return quarantine.isZero() ? "" : " for another " + Printable.about(quarantine);
  }

  private static String persistence(NodeFindings n) {
    if (!n.appendOnly()) {
      return "no append-only file";
    }
    return "append-only file" + (n.appendFsync() == null ? "" : ", fsync " + n.appendFsync());
  }
}
