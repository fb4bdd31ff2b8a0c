package dev.redlock.internal.protocol;

import java.util.Arrays;

/**
 * The nodes that do not store a grant although it is held. A repair writes it to them: at once, or
 * later if the round kept them back, or by the next lease that takes the grant over.
 */
final class RepairList {
  /** A section that is shorter than this costs the commands of its quorum only. */
  private static final long FILL_AFTER_NANOS = 10_000_000;

  private final Nodes nodes;

  /** Nodes that a repair was sent to, and that have not replied. */
  private long underWay;

  /** By node: the connection of the newest repair. */
  private long[] sentOn;

  /** Nodes found without the grant after the release was asked for: a hand-off repairs them. */
  private long postponed;

  /** Nodes that the round kept back: they get the grant if it is still held at the given time. */
  private long keptBack;

  private long fillNanos;

  RepairList(Nodes nodes) {
    this.nodes = nodes;
    sentOn = new long[nodes.count()];
  }

  void postpone(long mask) {
    postponed |= mask;
  }

  /** The nodes that the successor repairs. */
  long takeOver() {
    long mask = postponed | underWay;
    postponed = 0;
    underWay = 0;
    return mask;
  }

  void sent(long mask) {
    for (long bits = mask; bits != 0; bits &= bits - 1) {
      int node = Long.numberOfTrailingZeros(bits);
      if (node >= sentOn.length) {
        sentOn = Arrays.copyOf(sentOn, nodes.count()); // A member since the lease began.
      }
      sentOn[node] = nodes.status(node).connection();
    }
    underWay |= mask;
  }

  void answered(int node) {
    underWay &= ~(1L << node);
  }

  long underWay() {
    return underWay;
  }

  boolean isUnderWay(int node) {
    return (underWay & 1L << node) != 0;
  }

  /** The node has another connection, perhaps: a repair is lost with its connection. */
  void onConnection(int node) {
    if (node < sentOn.length && sentOn[node] != nodes.status(node).connection()) {
      answered(node);
    }
  }

  // Nodes that were kept back.

  void keptBack(long mask, long nowNanos) {
    keptBack = mask;
    fillNanos = nowNanos + FILL_AFTER_NANOS;
  }

  /** The nodes whose time has come; or 0. */
  long toFill(long nowNanos) {
    return keptBack != 0 && fillNanos - nowNanos <= 0 ? keptBack : 0;
  }

  /** They have the grant, or are about to get it. */
  void filled() {
    keptBack = 0;
  }

  void deadlines(NextWake wake) {
    if (keptBack != 0) {
      wake.at(fillNanos);
    }
  }
}
