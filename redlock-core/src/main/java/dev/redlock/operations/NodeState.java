package dev.redlock.operations;

import java.time.Duration;

/**
 * The state of one node.
 *
 * @param node its name, without credentials
 * @param state the state of the connection
 * @param remaining how long a quarantine still lasts; zero otherwise
 * @param cause the reason, for people; may be empty
 * @param pendingReleases how many releases and roll-backs of this client the node has not
 *     confirmed. The client sends them again until the node confirms them or the keys have expired.
 *     Near zero unless the node is down; 100,000 at most over all nodes
 */
public record NodeState(
    String node, State state, Duration remaining, String cause, int pendingReleases) {

  /** The state of a connection: {@code CONNECTING → PROBING → (QUARANTINED →) VOTING}. */
  public enum State {
    /** There is no connection. The client connects again and again. */
    CONNECTING,
    /** The client reads identity, age and clock of the server. */
    PROBING,
    /** The server may have forgotten leases. It stores leases, and its votes do not count. */
    QUARANTINED,
    /** The votes of the node count. */
    VOTING,
    /**
     * The server answers with errors, which {@code cause} quotes. The client asks it for no new
     * lease. The client sends a trial every 200 ms; the node votes again when one succeeds.
     */
    ERRING
  }
}
