package dev.redlock.cli;

import dev.redlock.operations.NodeState;
import dev.redlock.spi.NodeRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The set of nodes, as the newest record that this client has read says.
 *
 * @param record the newest record; null if no node has one
 * @param nodes the states of all nodes that this client knows
 */
public record PresentSet(@Nullable NodeRecord record, List<NodeState> nodes) {

  /** Reads the records of these nodes. */
  public static PresentSet of(List<NodeState> nodes) {
    return new PresentSet(NodeState.newestRecord(nodes), nodes);
  }

  /** How many members it has; without a record all configured nodes are members. */
  public int size() {
    return record == null ? nodes.size() : record.members().size();
  }

  /** How many members are needed to decide anything. */
  public int quorum() {
    return size() / 2 + 1;
  }

  /** The states of its members. */
  public List<NodeState> members() {
    return NodeState.members(nodes);
  }

  /** Whether this client has begun to connect to each member. */
  public boolean isKnown() {
    return record == null
        || nodes.stream().map(NodeState::nameInSet).toList().containsAll(record.members());
  }

  /** The name in the set of the node that a person calls so: by this name, or as configured. */
  public String nameOf(String called) {
    if (record != null && record.members().contains(called)) {
      return called;
    }
    return nodes.stream()
        .filter(node -> node.node().equals(called))
        .map(NodeState::nameInSet)
        .findFirst()
        .orElse(called);
  }

  /** For people: {@code epoch 3, floor 3: a:6379, b:6379, c:6379}. */
  public static String describe(NodeRecord record) {
    return "epoch "
        + record.epoch()
        + ", floor "
        + record.floor()
        + ": "
        + String.join(", ", record.members());
  }
}
