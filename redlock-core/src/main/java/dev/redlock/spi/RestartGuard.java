package dev.redlock.spi;

/**
 * The rule that keeps a node that may have forgotten leases from voting. See {@code
 * docs/safety.md}, "Nodes that forget".
 */
public enum RestartGuard {
  /** No guard. For tests, and for nodes that fsync every write. */
  OFF,
  /**
   * The default. A node is quarantined for the longest lease time in these cases: its uptime is
   * shorter than that; its run id changed; it was promoted from a replica and nothing proves that
   * it has been a master for as long; this client, or another connected client, saw a flush.
   */
  UPTIME,
  /**
   * Stricter: a node votes only once its marker key is old enough. This also detects a flush that
   * happened while no client was connected.
   */
  MARKER
}
