package dev.redlock;

/** One node's answer to the question for a lock. */
public enum Vote {
  /** The node stored the lease. */
  GRANTED,
  /** Another lease has the name there, or stands in line for it. */
  HELD,
  /** The node would not accept the fencing token. */
  STALE,
  /** No definite answer: no connection, no answer in time, or an error. What it did is unknown. */
  SILENT,
  /** The node may have forgotten leases and does not vote until they would have expired. */
  QUARANTINED
}
