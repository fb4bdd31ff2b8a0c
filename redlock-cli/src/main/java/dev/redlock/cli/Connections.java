package dev.redlock.cli;

import dev.redlock.operations.NodeState;
import dev.redlock.operations.Operations;
import java.time.Duration;
import java.util.List;

/** Waits for the connections of a new client, which connects in the background. */
public final class Connections {
  /** A node that has neither connected nor failed by then counts as unreachable. */
  private static final Duration CONNECTING = Duration.ofSeconds(2);

  private static final long STEP_MILLIS = 5;

  private Connections() {}

  /**
   * Returns when each member is connected, quarantined, or has refused the first connection; after
   * 2 s at the latest. A command that does not wait for a lock then knows what it can know. The
   * members are those of the nodes' records, which may differ from the configured nodes.
   */
  public static void settle(Operations operations) throws InterruptedException {
    long start = System.nanoTime();
    while (isUnsettled(operations.nodes()) && System.nanoTime() - start < CONNECTING.toNanos()) {
      Thread.sleep(STEP_MILLIS);
    }
  }

  private static boolean isUnsettled(List<NodeState> nodes) {
    PresentSet set = PresentSet.of(nodes);
    return !set.isKnown() || set.members().stream().anyMatch(Connections::isConnecting);
  }

  private static boolean isConnecting(NodeState node) {
    return switch (node.state()) {
      case CONNECTING, PROBING ->
          node.cause().isEmpty() || node.cause().startsWith("still connecting");
      case QUARANTINED -> isWithoutRecord(node);
      case VOTING, ERRING -> false;
    };
  }

  /** A client that reaches its nodes writes the first record at once. */
  private static boolean isWithoutRecord(NodeState node) {
    return node.cause().startsWith("waits for the other nodes")
        || node.cause().startsWith("has no record of the set yet");
  }
}
