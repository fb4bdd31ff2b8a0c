package dev.redlock.spi;

import java.time.Duration;

/**
 * The rule that keeps a node that may have forgotten leases from voting. See {@code
 * docs/safety.md}, "Nodes that forget".
 */
public enum RestartGuard {
  /** No guard. For tests, and for nodes that fsync every write. */
  OFF,
  /**
   * The default. The client quarantines a node for the guard time, {@code max(maxLeaseTime, 5 s) +
   * 2 s}, in these cases: its uptime is shorter than the guard time; its run id changed; it was
   * promoted from a replica, and its marker does not prove that it has been a master for the guard
   * time; this client, or another connected client, saw a flush.
   */
  UPTIME,
  /**
   * Stricter: a node does not vote before its marker key is as old as the guard time. This also
   * detects a flush that happened while no client was connected.
   */
  MARKER;

  private static final Duration SHORTEST = Duration.ofSeconds(5);

  /** Servers report whole seconds of their age; this covers the rounding at both ends. */
  private static final Duration ROUNDING = Duration.ofSeconds(2);

  /** After this time each lease that was granted before has ended, or was extended since. */
  public static Duration guardTime(Duration maxLeaseTime) {
    return (maxLeaseTime.compareTo(SHORTEST) < 0 ? SHORTEST : maxLeaseTime).plus(ROUNDING);
  }
}
