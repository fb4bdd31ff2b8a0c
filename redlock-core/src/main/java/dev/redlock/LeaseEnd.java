package dev.redlock;

/** How a lease ended. */
public enum LeaseEnd {
  /** Its holder released it while it was valid. */
  RELEASED,
  /**
   * Its holder released it, and it passed to the next waiter of the same process without being
   * freed.
   */
  HANDED_OFF,
  /** Its validity ran out: it was not extended in time, or the process or machine was paused. */
  EXPIRED,
  /** A quorum of nodes said that it is no longer ours: an operator broke it, or nodes forgot it. */
  LOST,
  /** It reached the longest total hold its options allow. */
  CAP_REACHED;

  /** Whether the holder itself ended it, in time. */
  public boolean byHolder() {
    return this == RELEASED || this == HANDED_OFF;
  }
}
