package dev.redlock.internal.protocol;

/**
 * One request to several nodes, to which their replies are addressed. Replies of different
 * exchanges can never be mistaken for each other.
 */
public abstract sealed class Exchange
    permits Votes, ExtendRound, PendingRelease, Broadcast, QueueRequest {

  /** Nodes that were asked and have not replied. */
  private long open;

  /** When it was sent; for one that is repeated, when it was last sent. */
  public abstract long sentNanos();

  final void asked(long mask) {
    open |= mask;
  }

  /** Records the reply; false if the node was not asked or has already replied. */
  final boolean answered(int node) {
    long bit = 1L << node;
    boolean first = (open & bit) != 0;
    open &= ~bit;
    return first;
  }

  final long open() {
    return open;
  }

  final boolean isOpen(int node) {
    return (open & 1L << node) != 0;
  }
}
