package dev.redlock.spi;

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
  MARKER
}
