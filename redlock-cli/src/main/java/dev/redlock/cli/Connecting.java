package dev.redlock.cli;

import dev.redlock.operations.NodeState;
import dev.redlock.operations.Operations;
import java.time.Duration;
import java.util.List;

/** Waits for the connections of a new client, which connects in the background. */
public final class Connecting {
  /** A node that has neither connected nor failed by then counts as unreachable. */
  private static final Duration CONNECTING = Duration.ofSeconds(2);

  /** How long it waits if no node has connected or failed: this machine may be too busy for it. */
  private static final Duration BUSY = Duration.ofSeconds(10);

  /** After 3 s a client says why it has chosen no deployment. */
  private static final Duration CHOOSING = Duration.ofMillis(3_500);

  private Connecting() {}

  /**
   * Returns when each member is connected, quarantined, or has refused the first connection; after
   * 2 s at the latest, 3.5 s if the nodes show no deployment, or 10 s if no node has answered in
   * any way. A command that does not wait for a lock then knows what it can know. The members are
   * those of the nodes' records, which may differ from the configured nodes.
   */
  public static void settle(Operations operations) throws InterruptedException {
    long start = System.nanoTime();
    while (isUnsettled(operations.nodes(), System.nanoTime() - start)) {
      Thread.sleep(5);
    }
  }

  private static boolean isUnsettled(List<NodeState> nodes, long passedNanos) {
    PresentSet set = PresentSet.of(nodes);
    if (passedNanos >= CONNECTING.toNanos()) {
      return nodes.stream().allMatch(Connecting::isConnecting)
          ? passedNanos < BUSY.toNanos()
          : passedNanos < CHOOSING.toNanos()
              && nodes.stream().anyMatch(PresentSet::isWithoutRecord);
    }
    boolean undecided =
        set.record() == null
            && nodes.stream().anyMatch(node -> node.state() == NodeState.State.QUARANTINED);
    return undecided
        || !set.isKnown()
        || set.members().stream().anyMatch(PresentSet::isWithoutRecord)
        || set.members().stream().anyMatch(Connecting::isConnecting);
  }

  /** Whether the first connection to the node has neither succeeded nor failed. */
  public static boolean isConnecting(NodeState node) {
    return switch (node.state()) {
      case CONNECTING, PROBING ->
          node.cause().isEmpty() || node.cause().startsWith("still connecting");
      case QUARANTINED, VOTING, ERRING -> false;
    };
  }
}
