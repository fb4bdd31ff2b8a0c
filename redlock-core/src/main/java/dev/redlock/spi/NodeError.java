package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

/**
 * Why a node gave no definite answer.
 *
 * @param kind the class of the fault
 * @param message for people; holds no credentials and no lease id
 */
public record NodeError(Kind kind, String message) {

  public NodeError {
    requireNonNull(kind, "kind");
    requireNonNull(message, "message");
  }

  @Override
  public String toString() {
    return kind + ": " + message;
  }

  /** The class of a fault. */
  public enum Kind {
    /** No answer within the node timeout. The request may still be executed. */
    TIMEOUT,
    /** No connection, or it broke before the answer. The request may have been executed. */
    DISCONNECTED,
    /** Too many requests are unanswered on this connection; nothing was sent. */
    OVERLOADED,
    /** The server is loading its data set. Not executed. */
    LOADING,
    /** The server is a replica. Not executed. */
    READONLY,
    /** The server is out of memory. Not executed. */
    OUT_OF_MEMORY,
    /** The server is busy with a long script. Not executed. */
    BUSY,
    /** The user may not run a command that is needed. */
    NO_PERMISSION,
    /** The server wants a password, or refused the one given. */
    NOT_AUTHENTICATED,
    /** Our key holds somebody's data: another type, or no time to live. */
    FOREIGN_KEY,
    /** The server had forgotten the script; it has been loaded again for the next round. */
    NO_SCRIPT,
    /** A cluster node does not serve the slot, now. */
    CLUSTER,
    /** Too few replicas confirmed the write in time. */
    REPLICAS,
    /** The client is closed. */
    CLOSED,
    /** Anything else. */
    UNEXPECTED
  }
}
