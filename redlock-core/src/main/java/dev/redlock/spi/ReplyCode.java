package dev.redlock.spi;

/** What a node answered to one request. */
public enum ReplyCode {
  /** Acquire: the key is set for this lease id. */
  GRANTED,
  /**
   * Acquire: another lease id has the key; remaining time and mark are of the one that lasts
   * longest.
   */
  HELD,
  /** Acquire (fair mode): somebody who came earlier stands in line. */
  QUEUED,
  /**
   * Acquire: the token is not acceptable; the answer carries the stored fence and the node's time.
   */
  STALE,
  /** Extend: the key was ours, and lives for the lease time again. */
  EXTENDED,
  /** Extend: the key was gone and no later lease has ended; it was set again. */
  REPAIRED,
  /** Extend: another's key, or a later lease has ended meanwhile. */
  LOST,
  /** Release: the key was ours and is gone (or shortened). Break: a key was deleted. */
  RELEASED,
  /** Release: the key was not ours; the fence was raised all the same. Break: there was no key. */
  NOT_OWNER,
  /** No definite answer: what the node did is unknown. */
  FAILED;

  /** Whether the node said something definite. */
  public boolean definite() {
    return this != FAILED;
  }
}
