package dev.redlock;

/** One node's reply to an acquire. */
public enum Vote {
  /** The node stored the lease. */
  GRANTED,
  /** Another lease has the name there, or it is the turn of another client. */
  HELD,
  /** The node does not accept the fencing token. */
  STALE,
  /** No definite reply: no connection, no reply in time, or an error. What it did is unknown. */
  SILENT,
  /** The client did not ask the node: its vote could not have changed the result. */
  NOT_ASKED,
  /** The node may have forgotten leases; its vote counts only after they have expired. */
  QUARANTINED
}
