package dev.redlock.internal;

import dev.redlock.internal.protocol.NodeKnowledge;
import dev.redlock.internal.protocol.Nodes;
import dev.redlock.internal.protocol.Pace;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeStatus;
import java.util.List;

/** The configured nodes, numbered. */
final class NodeSet implements Nodes {
  private final LockNode[] nodes;
  private final NodeKnowledge[] knowledge;
  private final Pace pace = new Pace();

  NodeSet(List<LockNode> nodes) {
    this.nodes = nodes.toArray(LockNode[]::new);
    knowledge = new NodeKnowledge[this.nodes.length];
    for (int i = 0; i < knowledge.length; i++) {
      knowledge[i] = new NodeKnowledge();
    }
  }

  LockNode node(int index) {
    return nodes[index];
  }

  int indexOf(LockNode node) {
    for (int i = 0; i < nodes.length; i++) {
      if (nodes[i] == node) {
        return i;
      }
    }
    throw new IllegalArgumentException("not a node of this client: " + node.name());
  }

  @Override
  public int count() {
    return nodes.length;
  }

  @Override
  public String name(int node) {
    return nodes[node].name();
  }

  @Override
  public NodeStatus status(int node) {
    return nodes[node].status();
  }

  @Override
  public NodeKnowledge knowledge(int node) {
    return knowledge[node];
  }

  @Override
  public Pace pace() {
    return pace;
  }
}
