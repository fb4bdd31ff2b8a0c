package dev.redlock.redis.internal;

/** What to do about a connection on which no byte has arrived for a while. */
public enum Silence {
  /** Nothing: the silence is short, or a reply may still arrive. */
  WAIT,
  /** Send a command that every server replies to at once. */
  PING,
  /** Give the connection up. */
  GIVE_UP;

  private static final long PING_NANOS = 2_000_000_000L;

  /** After this much silence with a request that has no reply, the connection is given up. */
  public static final long DEAD_NANOS = 5_000_000_000L;

  /**
   * Judges the silence on a connection.
   *
   * @param silentNanos the time since the last byte arrived
   * @param unanswered whether a request has no reply yet
   */
  public static Silence judge(long silentNanos, boolean unanswered) {
    if (unanswered) {
      return silentNanos > DEAD_NANOS ? GIVE_UP : WAIT;
    }
    return silentNanos > PING_NANOS ? PING : WAIT;
  }
}
