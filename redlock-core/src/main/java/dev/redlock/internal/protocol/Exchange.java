package dev.redlock.internal.protocol;

/**
 * A question put to several nodes, to which their answers are addressed. Answers of different
 * exchanges can never be mistaken for each other.
 */
public abstract sealed class Exchange
    permits AcquireRound, ExtendRound, Cleanup.Entry, Survey, PlaceInLine.Again {

  /** Nodes that were asked and have not answered. */
  private long open;

  final void asked(long mask) {
    open |= mask;
  }

  /** Notes the answer; false if it was not asked for or has come before. */
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
