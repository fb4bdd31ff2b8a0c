package dev.redlock;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Redlock#doctor()} found.
 *
 * @param nodes each node's findings, in the order of configuration
 */
public record Diagnosis(List<NodeFindings> nodes) {

  public Diagnosis {
    nodes = List.copyOf(nodes);
  }

  /**
   * One node's findings.
   *
   * @param node its state
   * @param server what the server says it is, such as {@code redis 7.0.15}; null if unknown
   * @param role {@code master} or {@code slave}; null if unknown
   * @param evictionPolicy {@code noeviction} is right for locks; null if unknown
   * @param appendOnly whether it keeps an append-only file
   * @param replicas how many replicas are attached
   * @param clockSkew how far its clock is ahead of the median of all nodes; null if unknown
   * @param complaints what an operator should change, in sentences; empty if all is well
   */
  public record NodeFindings(
      Redlock.NodeState node,
      @Nullable String server,
      @Nullable String role,
      @Nullable String evictionPolicy,
      boolean appendOnly,
      int replicas,
      @Nullable Duration clockSkew,
      List<String> complaints) {

    public NodeFindings {
      complaints = List.copyOf(complaints);
    }
  }

  /** Whether there is nothing to complain about. */
  public boolean healthy() {
    return nodes.stream().allMatch(node -> node.complaints().isEmpty());
  }

  @Override
  public String toString() {
    return nodes.stream()
        .map(
            n ->
                n.node().node()
                    + " "
                    + n.node().state()
                    + ", "
                    + (n.server() == null ? "unknown server" : n.server())
                    + (n.clockSkew() == null ? "" : ", clock " + n.clockSkew().toMillis() + " ms")
                    + (n.complaints().isEmpty() ? ": well" : ": " + n.complaints()))
        .collect(Collectors.joining("\n"));
  }
}
