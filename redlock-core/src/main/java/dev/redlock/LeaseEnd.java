package dev.redlock;

/** How a lease ended. */
public enum LeaseEnd {
  /** Its holder released it while it was valid. */
  RELEASED,
  /**
   * Its holder released it, and the lock was handed off to the next waiter of the same client
   * without being free in between.
   */
  HANDED_OFF,
  /** Its validity ended: it was not extended in time, or the process or machine was paused. */
  EXPIRED,
  /** A quorum of nodes no longer stores it: an operator broke it, or nodes forgot it. */
  LOST,
  /** It reached {@link LockOptions#holdCap()}. */
  CAP_REACHED,
  /** Its client was closed while it was held, and has released it. */
  CLOSED;

  /** Whether the holder ended it while it was valid. */
  public boolean byHolder() {
    return this == RELEASED || this == HANDED_OFF;
  }
}
