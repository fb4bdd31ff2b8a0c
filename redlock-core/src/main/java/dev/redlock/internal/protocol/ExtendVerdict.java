package dev.redlock.internal.protocol;

/** What the replies to an {@link ExtendRound} amount to. */
public enum ExtendVerdict {
  /** Replies are still to come that can decide. */
  UNDECIDED,
  /** A quorum extended the lease in time. */
  RENEWED,
  /** So many nodes have lost the lease that no quorum is left for it. */
  LOST,
  /** Neither: the old deadline stands. */
  UNKNOWN
}
