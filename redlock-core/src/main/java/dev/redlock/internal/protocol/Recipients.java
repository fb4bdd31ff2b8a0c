package dev.redlock.internal.protocol;

import dev.redlock.internal.sets.Members;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import java.util.Arrays;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The nodes that a round was sent to, and that may store what it wrote. */
final class Recipients {
  private final Nodes nodes;
  private final @Nullable NodeStatus[] notAsked;

  private long sent; // Nodes that it was sent to, and that may have executed it.
  private long keptBack; // Nodes that vote, and are asked only if the others do not suffice.
  private long askedLater;
  private long askedLaterNanos;

  /** All members that vote. The others are recorded with the state that they have now. */
  Recipients(Nodes nodes, Members members) {
    this.nodes = nodes;
    notAsked = new NodeStatus[nodes.count()];
    ask(members.mask());
  }

  /** Those of these nodes that vote; returns them. */
  private long ask(long mask) {
    long voting = 0;
    for (long bits = mask; bits != 0; bits &= bits - 1) {
      int node = Long.numberOfTrailingZeros(bits);
      NodeStatus status = nodes.status(node);
      if (status.votes()) {
        voting |= 1L << node;
      } else {
        notAsked[node] = status;
      }
    }
    sent |= voting;
    return voting;
  }

  /** The nodes that it was sent to, and that may therefore store its key. */
  long mask() {
    return sent;
  }

  /** The state in which the node was not asked, or null. */
  @Nullable NodeStatus notAsked(int node) {
    return notAsked[node];
  }

  /** How many nodes it was not sent to, because they do not vote or are kept back. */
  int outside() {
    return Long.bitCount(keptBack) + count(status -> true);
  }

  /**
   * How many are quarantined since then. Most often a node that begins to be is asked for its
   * record again, because the set changes or a flush was seen, and votes once it has told it.
   */
  int quarantinedSince(long nanos) {
    return count(status -> status.state() == State.QUARANTINED && status.sinceNanos() - nanos >= 0);
  }

  private int count(Predicate<NodeStatus> which) {
    return (int) Arrays.stream(notAsked).filter(s -> s != null && which.test(s)).count();
  }

  /** It was not sent to the node, or not executed there: there is nothing to undo. */
  void notSent(int node) {
    sent &= ~(1L << node);
  }

  /** It was sent to no node. */
  void none() {
    sent = 0;
    keptBack = 0;
  }

  // Nodes that are asked later, or not at all.

  /** Does not ask these nodes for now; returns those that would have been asked. */
  long keepBack(long mask) {
    keptBack = sent & mask;
    sent &= ~keptBack;
    return keptBack;
  }

  /** The nodes that it was not sent to although they vote. */
  long keptBack() {
    return keptBack;
  }

  boolean isKeptBack(int node) {
    return (keptBack & 1L << node) != 0;
  }

  /** Asks those that were kept back, and vote now; returns them. */
  long askRest(long nowNanos) {
    askedLater = ask(keptBack);
    askedLaterNanos = nowNanos;
    keptBack = 0;
    return askedLater;
  }

  long askedLater() {
    return askedLater;
  }

  boolean isAskedLater(int node) {
    return (askedLater & 1L << node) != 0;
  }

  long askedLaterNanos() {
    return askedLaterNanos;
  }
}
