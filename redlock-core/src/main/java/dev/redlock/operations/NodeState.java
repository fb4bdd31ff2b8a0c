package dev.redlock.operations;

import dev.redlock.spi.NodeRecord;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of one node.
 *
 * @param node its name, without credentials
 * @param state the state of the connection
 * @param remaining how long a quarantine still lasts; zero otherwise
 * @param cause the reason, for people; may be empty
 * @param pendingReleases how many releases and roll-backs of this client the node has not
 *     confirmed. The client sends them again until the node confirms them or the keys have expired.
 *     Near zero unless the node is down; 100,000 at most over all nodes
 * @param record what the node stores about the set of nodes: epoch, members and floor; null if it
 *     keeps none, was not reached yet, or belongs to another deployment, which {@code cause} says
 */
public record NodeState(
    String node,
    State state,
    Duration remaining,
    String cause,
    int pendingReleases,
    @Nullable NodeRecord record) {

  /**
   * Those of a client's nodes that are members of the set that the newest record names; all of them
   * if no node has a record. A client still knows a node that was removed while it runs, or that
   * stands in its configuration only.
   *
   * @param nodes what {@link Operations#nodes()} returned
   */
  public static List<NodeState> members(List<NodeState> nodes) {
    NodeRecord newest = newestRecord(nodes);
    return newest == null
        ? nodes
        : nodes.stream().filter(node -> newest.members().contains(node.nameInSet())).toList();
  }

  /** The newest record that one of these nodes has; null if none has one. */
  public static @Nullable NodeRecord newestRecord(List<NodeState> nodes) {
    NodeRecord newest = null;
    for (NodeState node : nodes) {
      NodeRecord record = node.record();
      if (record != null && (newest == null || isNewer(record, newest))) {
        newest = record;
      }
    }
    return newest;
  }

  private static boolean isNewer(NodeRecord one, NodeRecord other) {
    return one.epoch() > other.epoch()
        || (one.epoch() == other.epoch() && one.floor() > other.floor());
  }

  /** Its name in the set, which may differ from the configured address. */
  public String nameInSet() {
    return record == null || record.name().isEmpty() ? node : record.name();
  }

  /** The state of a connection: {@code CONNECTING → PROBING → (QUARANTINED →) VOTING}. */
  public enum State {
    /** There is no connection. The client connects again and again. */
    CONNECTING,
    /** The client reads identity, age and clock of the server. */
    PROBING,
    /** The server may have forgotten leases. It stores leases, and its votes do not count. */
    QUARANTINED,
    /** The votes of the node count. */
    VOTING,
    /**
     * The server answers with errors, which {@code cause} quotes. The client asks it for no new
     * lease. The client sends a trial every 200 ms; the node votes again when one succeeds.
     */
    ERRING
  }
}
