package dev.redlock;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What each node knows of a name, at about the same time.
 *
 * @param name the name
 * @param quorum how many nodes make a holder
 * @param nodes each node's knowledge, in the order of configuration
 */
public record LockInspection(String name, int quorum, List<NodeView> nodes) {

  public LockInspection {
    requireNonNull(name, "name");
    nodes = List.copyOf(nodes);
  }

  /**
   * One node's knowledge.
   *
   * @param node its name
   * @param state the state of the connection, with the remaining time of a quarantine
   * @param holder a short hash of the lease id stored there; null if free or unknown
   * @param remaining how long the key still lives; null if free or unknown
   * @param fence the highest fencing token granted there; 0 if none or unknown. Whom the lock was
   *     handed on to without asking the nodes has a token up to 63 higher
   * @param error why nothing is known; null if the node answered
   */
  public record NodeView(
      String node,
      String state,
      @Nullable String holder,
      @Nullable Duration remaining,
      long fence,
      @Nullable String error) {}
}
