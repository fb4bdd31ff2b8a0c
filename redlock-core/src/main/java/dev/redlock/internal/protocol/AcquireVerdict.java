package dev.redlock.internal.protocol;

/** What the votes of an {@link AcquireRound} amount to. */
public enum AcquireVerdict {
  /** Votes are still to come that can decide. */
  UNDECIDED,
  /** A quorum granted, and validity is left. */
  WON,
  /** Another lease may have a quorum, or it is the turn of another process. */
  HELD,
  /**
   * Several clients have votes, and none of them can have a quorum; or grants to others raised the
   * fences above both tokens of this client.
   */
  COLLIDED,
  /** The token was the obstacle; a later one may win. */
  STALE,
  /** Too many nodes are silent. */
  UNAVAILABLE,
  /** A quorum granted, but no validity is left. */
  TOO_SLOW
}
