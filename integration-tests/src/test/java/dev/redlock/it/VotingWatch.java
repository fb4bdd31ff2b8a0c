package dev.redlock.it;

import dev.redlock.RedlockListener;
import dev.redlock.operations.NodeState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;

/**
 * Records each node that stops voting after {@link #awaitVoting} has returned. The listener of a
 * client receives a state later than {@code Operations.nodes()} shows it. So the states before the
 * first vote may still be on their way when the nodes already vote.
 */
public final class VotingWatch implements RedlockListener {
  private final Map<String, NodeState.State> last = new HashMap<>();
  private final List<String> left = new ArrayList<>();

  @Override
  public synchronized void onNode(NodeState node) {
    last.put(node.node(), node.state());
    if (node.state() != NodeState.State.VOTING) {
      left.add(node.toString());
    }
  }

  /** Waits until the client has reported that this number of nodes votes. */
  public void awaitVoting(int nodes) {
    Awaitility.await("told that " + nodes + " nodes vote")
        .atMost(Duration.ofSeconds(10))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> isToldOf(nodes));
  }

  private synchronized boolean isToldOf(int nodes) {
    boolean told =
        last.values().stream().filter(state -> state == NodeState.State.VOTING).count() == nodes;
    if (told) {
      left.clear();
    }
    return told;
  }

  /** Each state other than VOTING that a node has had since then. */
  public synchronized List<String> left() {
    return List.copyOf(left);
  }
}
