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

  /** How the cause of a node ends until the client has chosen a deployment. */
  private static final String NO_RECORD = "no majority has a record of the set";

  /** Reads the records of these nodes. */
  public static PresentSet of(List<NodeState> nodes) {
    return new PresentSet(NodeState.newestRecord(nodes), nodes);
  }

  /** Whether the client has seen no deployment there yet. */
  static boolean isWithoutRecord(NodeState node) {
    return node.cause().endsWith(NO_RECORD);
  }

  /** Whether each node answers, and none stores a record: no program has used them yet. */
  public boolean isNew() {
    return record == null && nodes.stream().allMatch(PresentSet::isWithoutRecord);
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

  /** For people: {@code deployment 5c0ffee, epoch 3, floor 3: a:6379, b:6379, c:6379}. */
  public static String describe(NodeRecord record) {
    return "deployment %s, epoch %s, floor %s: %s"
        .formatted(
            record.id(), record.epoch(), record.floor(), String.join(", ", record.members()));
  }
}
