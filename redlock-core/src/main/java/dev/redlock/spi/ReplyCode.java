package dev.redlock.spi;

/** What a node replied to one request. */
public enum ReplyCode {
  /** Acquire: the node stored the lease. */
  GRANTED,
  /**
   * Acquire: another lease has a key. Remaining life and mark belong to the key that expires last.
   */
  HELD,
  /** Acquire, enqueue: the lock is free, but another process in the queue has its turn. */
  QUEUED,
  /** Enqueue: the lock is free on this node, and this process has its turn. */
  ADMITTED,
  /**
   * Acquire: the node does not accept the token. The reply carries the stored fence and the node's
   * time.
   */
  STALE,
  /** Extend: the key had this lease id; the node set its remaining life to the lease time. */
  EXTENDED,
  /** Extend: the key was missing and no later lease had ended; the node wrote it again. */
  REPAIRED,
  /** Extend: another lease has the key, or a later lease has ended. */
  LOST,
  /** Release: the key had this lease id and is deleted or shortened. Break: a key was deleted. */
  RELEASED,
  /** Release: the key had another lease id or was missing; the fence was raised. Break: no key. */
  NOT_OWNER,
  /** No definite reply: what the node did is unknown. */
  FAILED;

  /** Whether the reply is definite. */
  public boolean definite() {
    return this != FAILED;
  }
}
