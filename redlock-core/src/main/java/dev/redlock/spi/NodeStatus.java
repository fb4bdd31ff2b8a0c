package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.text.Printable;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of one node's connection.
 *
 * @param state the state of the connection
 * @param connection rises with every new connection and with every event that makes earlier replies
 *     invalid (a flush); a reply counts in a round only while its connection number is the current
 *     one
 * @param sinceNanos when this state began, on the clock of {@link Time#nanos()}; for {@link
 *     State#QUARANTINED} when this client first put this run of the server in quarantine
 * @param untilNanos when a quarantine is expected to end, on the same clock; otherwise 0
 * @param cause the reason, for people: the error that ended the connection, the reason for the
 *     quarantine, or the error that the server replies while it is erring
 * @param erring whether the server replies with errors instead of executing requests. Until a trial
 *     of the adapter succeeds, the client asks the server for no new lease and repeats no request.
 *     It still sends extensions, and sends each release once. The replies of the node still count
 * @param record what the server stores about the set of nodes, as the replies of this connection
 *     number know it; {@link NodeRecord#NONE} if it has no record; null if the node keeps none
 */
public record NodeStatus(
    State state,
    long connection,
    long sinceNanos,
    long untilNanos,
    String cause,
    boolean erring,
    @Nullable NodeRecord record) {

  /** The status of a connection to a server that is not erring, and keeps no record. */
  public NodeStatus(State state, long connection, long sinceNanos, long untilNanos, String cause) {
    this(state, connection, sinceNanos, untilNanos, cause, false, null);
  }

  public NodeStatus {
    requireNonNull(state, "state");
    cause = Printable.of(requireNonNull(cause, "cause"));
  }

  /** The states of a connection: {@code CONNECTING → PROBING → (QUARANTINED →) VOTING}. */
  public enum State {
    /** No connection; the client is connecting, or will connect again after a pause. */
    CONNECTING,
    /** Connected; the client is asking for the identity, age and clock of the server. */
    PROBING,
    /** Usable for extensions and releases, but its votes on new leases do not count. */
    QUARANTINED,
    /** Usable for everything; its votes count. */
    VOTING
  }

  /** The same status with another record. */
  public NodeStatus with(@Nullable NodeRecord other) {
    return new NodeStatus(state, connection, sinceNanos, untilNanos, cause, erring, other);
  }

  /** Whether requests can be sent: the connection is probed. */
  public boolean usable() {
    return state == State.VOTING || state == State.QUARANTINED;
  }

  /** Whether the client asks it for new leases: its votes count, and it is not erring. */
  public boolean votes() {
    return state == State.VOTING && !erring;
  }

  /** Whether the client may send a failed request again: the node is usable and not erring. */
  public boolean works() {
    return usable() && !erring;
  }
}
