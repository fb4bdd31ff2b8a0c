package dev.redlock;

/** One node's reply to an acquire. */
public enum Vote {
  /** The node stored the lease. */
  GRANTED,
  /** Another lease has the name on this node, or another client has its turn. */
  HELD,
  /** The node does not accept the fencing token. */
  STALE,
  /**
   * No definite reply: no connection, no reply in time, or an error. What the node did is unknown.
   */
  SILENT,
  /**
   * The client did not ask the node: its vote could not have changed the result, or a majority was
   * asked first.
   */
  NOT_ASKED,
  /** The node may have forgotten leases; its vote counts only after they have expired. */
  QUARANTINED
}
