package dev.redlock.internal;

import dev.redlock.internal.protocol.NodeKnowledge;
import dev.redlock.internal.protocol.Nodes;
import dev.redlock.internal.protocol.RoundLimiter;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.UnaryOperator;

/** The configured nodes, numbered. */
final class NodeSet implements Nodes {
  private static final NodeStatus UNKNOWN =
      new NodeStatus(NodeStatus.State.CONNECTING, 0, 0, 0, "status() failed with an exception");

  private final LockNode[] nodes;
  private final String[] names;
  private final AtomicReferenceArray<NodeKnowledge> knowledge;
  private final FailureLog failures;
  private final RoundLimiter limiter = new SharedRoundLimiter();

  NodeSet(List<LockNode> nodes, FailureLog failures) {
    this.nodes = nodes.toArray(LockNode[]::new);
    this.failures = failures;
    names = nodes.stream().map(LockNode::name).toArray(String[]::new);
    NodeKnowledge[] first = new NodeKnowledge[this.nodes.length];
    Arrays.fill(first, NodeKnowledge.NONE);
    knowledge = new AtomicReferenceArray<>(first);
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
    throw new IllegalArgumentException("not a node of this client");
  }

  /** A caller of this client begins to wait for these names, or the last caller has stopped. */
  void waiting(LockKeys keys, boolean waits) {
    for (int i = 0; i < nodes.length; i++) {
      try {
        if (waits) {
          nodes[i].waiting(keys);
        } else {
          nodes[i].idle(keys);
        }
      } catch (Throwable e) {
        failures.report("waiting or idle of node " + names[i], e);
      }
    }
  }

  /** Whether a quorum of nodes votes now. */
  boolean quorumVotes() {
    int voting = 0;
    for (int i = 0; i < nodes.length; i++) {
      voting += status(i).votes() ? 1 : 0;
    }
    return voting > nodes.length / 2;
  }

  /** Whether a quorum of nodes notifies waiters of a release now. */
  boolean notifyWaiters() {
    int notifying = 0;
    for (int i = 0; i < nodes.length; i++) {
      notifying += notifiesWaiters(i) ? 1 : 0;
    }
    return notifying > nodes.length / 2;
  }

  @Override
  public boolean notifiesWaiters(int node) {
    try {
      return nodes[node].notifiesWaiters();
    } catch (Throwable e) {
      failures.report("notifiesWaiters of node " + names[node], e);
      return false;
    }
  }

  @Override
  public int count() {
    return nodes.length;
  }

  @Override
  public String name(int node) {
    return names[node];
  }

  @Override
  public NodeStatus status(int node) {
    try {
      return Objects.requireNonNull(nodes[node].status());
    } catch (Throwable e) {
      failures.report("the status of node " + names[node], e);
      return UNKNOWN;
    }
  }

  CompletionStage<Optional<NodeIdentity>> probe(int node) {
    try {
      return Objects.requireNonNull(nodes[node].probe());
    } catch (Throwable e) {
      failures.report("probing node " + names[node], e);
      return CompletableFuture.completedStage(Optional.empty());
    }
  }

  /** What the node said of itself last; empty if it has not, or does not tell. */
  Optional<NodeIdentity> identity(int node) {
    try {
      return Objects.requireNonNull(nodes[node].identity());
    } catch (Throwable e) {
      failures.report("the identity of node " + names[node], e);
      return Optional.empty();
    }
  }

  @Override
  public NodeKnowledge knowledge(int node) {
    return knowledge.get(node);
  }

  @Override
  public void learn(int node, UnaryOperator<NodeKnowledge> change) {
    knowledge.updateAndGet(node, change);
  }

  @Override
  public RoundLimiter limiter() {
    return limiter;
  }
}
