package dev.redlock.cli;

import dev.redlock.operations.NodeState;
import dev.redlock.operations.Operations;
import java.time.Duration;

/** Waits for the connections of a new client, which connects in the background. */
public final class Connections {
  /** A node that has neither connected nor failed by then counts as unreachable. */
  private static final Duration CONNECTING = Duration.ofSeconds(2);

  private static final long STEP_MILLIS = 5;

  private Connections() {}

  /**
   * Returns when each node is connected, quarantined, or has refused the first connection; after 2
   * s at the latest. A command that does not wait for a lock then knows what it can know.
   */
  public static void settle(Operations operations) throws InterruptedException {
    long start = System.nanoTime();
    while (operations.nodes().stream().anyMatch(Connections::isConnecting)
        && System.nanoTime() - start < CONNECTING.toNanos()) {
      Thread.sleep(STEP_MILLIS);
    }
  }

  private static boolean isConnecting(NodeState node) {
    return switch (node.state()) {
      case CONNECTING, PROBING ->
          node.cause().isEmpty() || node.cause().startsWith("still connecting");
      case QUARANTINED, VOTING, ERRING -> false;
    };
  }
}
