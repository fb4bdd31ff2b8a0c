package dev.redlock;

/**
 * How an acquire ended, and so what the caller gets. {@link #ACQUIRED} is a lease. If {@link
 * #isHeld()}, it is an empty result, or a {@link LockTimeoutException} as for {@link #UNDECIDED}
 * and {@link #TOO_SLOW}. {@link #UNAVAILABLE} and {@link #STALE} are a {@link
 * QuorumUnavailableException}, {@link #QUEUE_FULL} is a {@link LockQueueFullException}, and {@link
 * #CLOSED} is a {@link RedlockClosedException}.
 */
public enum AcquireVerdict {
  /** The caller has the lock. */
  ACQUIRED,
  /**
   * Another client holds the lock. Or the lock is free, and processes that were queued before have
   * their turn; see {@link AcquireReport#queuedBefore()}.
   */
  HELD,
  /**
   * This client holds the lock, waits for it, or did so a moment ago; no node was asked for this
   * caller.
   */
  HELD_LOCALLY,
  /**
   * Several clients asked at the same time. They split the votes, or overtook each other; the lock
   * may be free.
   */
  COLLIDED,
  /** Too few nodes voted: the others are dead, hung, erring or quarantined. */
  UNAVAILABLE,
  /** Too few nodes accept one fencing token: their clocks differ too much. */
  STALE,
  /** A quorum granted, but after the node timeout, or with no validity left. */
  TOO_SLOW,
  /** The votes had not decided when the wait timeout passed: others may have the lock, or not. */
  UNDECIDED,
  /** Too many callers of this client already waited for the lock; no node was asked. */
  QUEUE_FULL,
  /** The caller gave up: it was interrupted, or its future was cancelled or completed. */
  CANCELLED,
  /** The client was closed. */
  CLOSED;

  /** Whether others have the lock, come first, or asked at the same time. */
  public boolean isHeld() {
    return this == HELD || this == HELD_LOCALLY || this == COLLIDED;
  }
}
