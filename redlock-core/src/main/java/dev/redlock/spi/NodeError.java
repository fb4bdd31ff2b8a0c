package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.text.Printable;

/**
 * Why a node gave no definite reply.
 *
 * @param kind the class of the fault
 * @param message for people; contains no credentials and no lease id; control characters are
 *     escaped
 * @param notExecuted whether it is certain that this request has stored nothing: the client did not
 *     send it, or the server rejected it before any write. If false, the request may have been
 *     executed, and an acquire or extend must be undone
 */
public record NodeError(Kind kind, String message, boolean notExecuted) {

  /** An error after which the request may have been executed. */
  public NodeError(Kind kind, String message) {
    this(kind, message, false);
  }

  public NodeError {
    requireNonNull(kind, "kind");
    message = Printable.of(requireNonNull(message, "message"));
  }

  @Override
  public String toString() {
    return kind + ": " + message;
  }

  /** The class of a fault. */
  public enum Kind {
    /** No reply in time. The request may still be executed. */
    TIMEOUT,
    /** No connection, or it ended before the reply. The request may have been executed. */
    DISCONNECTED,
    /** Too many requests of this connection have no reply yet; nothing was sent. */
    OVERLOADED,
    /** The server is loading its data set. Not executed. */
    LOADING,
    /** The server is a replica. Not executed. */
    READONLY,
    /** The server is out of memory. Not executed. */
    OUT_OF_MEMORY,
    /** The server rejects writes because it cannot save its data. Not executed. */
    MISCONFIGURED,
    /** The server is executing a long script. Not executed. */
    BUSY,
    /** The user has no permission for a required command. */
    NO_PERMISSION,
    /** The server requires a password, or rejected the given one. */
    NOT_AUTHENTICATED,
    /** A key of the lock contains foreign data: another type, or no time to live. */
    FOREIGN_KEY,
    /** The server had no such script, and it was too late to send it again. Not executed. */
    NO_SCRIPT,
    /** The cluster node does not serve the slot now. */
    CLUSTER,
    /** Too few replicas are attached. */
    REPLICAS,
    /** The client is closed. */
    CLOSED,
    /** Any other error. */
    UNEXPECTED
  }
}
