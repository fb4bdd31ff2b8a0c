package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * One node's answer to one request.
 *
 * @param code what it said
 * @param connection {@link NodeStatus#connection()} of the connection that carried the answer
 * @param nodeMicros the node's clock when it executed the request, microseconds since 1970; 0 if
 *     unknown
 * @param fence the highest stored fence of the names; 0 if none
 * @param remainingMillis {@link ReplyCode#HELD}: how long the longest-lasting key still lives
 * @param mark {@link ReplyCode#HELD}: a short hash of the holder's lease id
 * @param othersInLine {@link ReplyCode#GRANTED} and {@link ReplyCode#RELEASED}: how many others are
 *     known to want the lock; in fair mode those who stand in line at this node, else 1 if anybody
 *     was refused since the last grant
 * @param error {@link ReplyCode#FAILED}: why
 */
public record NodeReply(
    ReplyCode code,
    long connection,
    long nodeMicros,
    long fence,
    long remainingMillis,
    @Nullable String mark,
    int othersInLine,
    @Nullable NodeError error) {

  public NodeReply {
    requireNonNull(code, "code");
  }

  /** An answer without holder. */
  public static NodeReply of(ReplyCode code, long connection, long nodeMicros, long fence) {
    return new NodeReply(code, connection, nodeMicros, fence, 0, null, 0, null);
  }

  /** The answer that somebody else holds the lock. */
  public static NodeReply held(
      long connection, long nodeMicros, long fence, long remainingMillis, String mark) {
    return new NodeReply(
        ReplyCode.HELD, connection, nodeMicros, fence, remainingMillis, mark, 0, null);
  }

  /** No definite answer. */
  public static NodeReply failed(long connection, NodeError.Kind kind, String message) {
    return new NodeReply(
        ReplyCode.FAILED, connection, 0, 0, 0, null, 0, new NodeError(kind, message));
  }
}
