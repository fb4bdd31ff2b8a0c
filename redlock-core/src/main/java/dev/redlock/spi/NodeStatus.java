package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

/**
 * A snapshot of one node's connection.
 *
 * @param state where the connection stands
 * @param connection counts up with every new connection and with every event after which earlier
 *     answers no longer count (a flush that was seen); an answer counts in a round only while its
 *     connection number is still the current one
 * @param sinceNanos when this state began, on the monotonic clock of {@link Time#nanos()}; for
 *     {@link State#QUARANTINED} when this client first held this run of the server in quarantine
 * @param untilNanos when a quarantine is expected to end, on the same clock; otherwise 0
 * @param cause why, for people: the error that broke the connection, or what the quarantine is for
 */
public record NodeStatus(
    State state, long connection, long sinceNanos, long untilNanos, String cause) {

  public NodeStatus {
    requireNonNull(state, "state");
    requireNonNull(cause, "cause");
  }

  /** Where a connection stands: {@code CONNECTING → PROBING → (QUARANTINED →) VOTING}. */
  public enum State {
    /** No connection; one is being made, or made again after a pause. */
    CONNECTING,
    /** Connected; identity, age and clock of the node are being looked at. */
    PROBING,
    /** Usable for extending and cleaning up, but its votes on new leases do not count. */
    QUARANTINED,
    /** Votes. */
    VOTING
  }

  /** Whether requests can be sent: the connection has been probed. */
  public boolean usable() {
    return state == State.VOTING || state == State.QUARANTINED;
  }
}
