package dev.redlock.internal.protocol;

import org.jspecify.annotations.Nullable;

/**
 * What a client has learnt about one node from its replies. All of it is a heuristic that affects
 * speed only. Immutable: the machines of all locks share it through {@link Nodes#learn}.
 *
 * @param latencyNanos the usual time from request to reply
 * @param heardNanos when the node last replied
 * @param hung whether it was silent for longer than usual, and has not replied since
 * @param silent whether it let a whole node timeout pass (in fair mode, the patience with a home
 *     node), or failed, and has not replied since
 * @param clock its clock; null before the first reply that told the time
 */
public record NodeKnowledge(
    long latencyNanos, long heardNanos, boolean hung, boolean silent, @Nullable NodeClock clock) {
  /** What is known before the first reply. */
  public static final NodeKnowledge NONE =
      new NodeKnowledge(1_000_000, Long.MIN_VALUE / 2, false, false, null);

  /**
   * A busy machine is late by some milliseconds although the node is well. A client that takes such
   * a node for a hung one asks another home node than all other clients.
   */
  private static final long MIN_PATIENCE_NANOS = 10_000_000;

  private static final long MIN_TURN_NANOS = 25_000_000;

  /** After a reply: when its request was sent, when it came, the node's clock in between. */
  public NodeKnowledge observed(long sentNanos, long answeredNanos, long nodeMicros) {
    long took = Math.max(0, answeredNanos - sentNanos);
    // One slow reply moves the estimate by an eighth; a fast one quickly brings it down again.
    long usual =
        took < latencyNanos
            ? (latencyNanos * 3 + took) / 4
            : latencyNanos + (took - latencyNanos) / 8;
    NodeClock read =
        nodeMicros > 0
            ? NodeClock.read(
                clock, nodeMicros - (sentNanos + took / 2) / 1000, took / 2, answeredNanos)
            : clock;
    return new NodeKnowledge(usual, answeredNanos, false, false, read);
  }

  /**
   * After a request that has been unanswered for longer than the {@link #patience}.
   *
   * @param failed whether for the whole node timeout, or it was answered by an error
   */
  NodeKnowledge overdue(boolean failed) {
    return new NodeKnowledge(latencyNanos, heardNanos, true, silent || failed, clock);
  }

  /** Whether {@link #estimateMicros} depends on a reply. */
  public boolean clockKnown() {
    return clock != null;
  }

  /** The node's clock now, as the most precise reply says. */
  public long estimateMicros(long nowNanos) {
    return (clock == null ? 0 : clock.offsetMicros()) + nowNanos / 1000;
  }

  /** How long a reply may take before the node is passed over: three times the usual. */
  long patience() {
    return Math.max(MIN_PATIENCE_NANOS, 3 * latencyNanos);
  }

  /**
   * How long the first of this node's queue may be silent at its turn. At least so long that a
   * process on a busy machine runs again.
   *
   * @param fair whether order matters more than time
   */
  long turnPatience(boolean fair) {
    return Math.max(fair ? 4 * MIN_TURN_NANOS : MIN_TURN_NANOS, 3 * latencyNanos);
  }
}
