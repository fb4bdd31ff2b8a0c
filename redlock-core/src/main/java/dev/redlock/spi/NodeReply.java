package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.text.HolderMark;
import org.jspecify.annotations.Nullable;

/**
 * One node's reply to one request.
 *
 * @param code what the node replied
 * @param connection {@link NodeStatus#connection()} of the connection that carried the reply
 * @param nodeMicros the node's clock when it executed the request, microseconds since 1970; 0 if
 *     unknown
 * @param fence the highest fence that the node stores for the names; 0 if none. {@link
 *     Code#ADMITTED}: the highest token of a lease that has ended, as far as the node knows
 * @param remainingMillis {@link Code#HELD}: the remaining life of the key that expires last; −1 if
 *     the node stores no lease, see {@link LockRequest.Enqueue}. Enqueue, {@link Code#QUEUED}:
 *     after this time this process is to ask again; 0 if others do
 * @param mark {@link Code#HELD}: a short hash of the holder's lease id, and its label; see {@link
 *     #isMark}
 * @param othersQueued {@link Code#GRANTED} and {@link Code#RELEASED}: how many other processes want
 *     the lock, as far as the node knows: the processes in its queue, or 1 if the node refused a
 *     client since the last grant. Enqueue, and {@link Code#QUEUED}: how many processes are before
 *     this process in the queue
 * @param error {@link Code#FAILED}: why
 */
public record NodeReply(
    Code code,
    long connection,
    long nodeMicros,
    long fence,
    long remainingMillis,
    @Nullable String mark,
    int othersQueued,
    @Nullable NodeError error) {

  public NodeReply {
    requireNonNull(code, "code");
  }

  /**
   * Whether a reply may contain this mark: {@code <hash>}, 40 hexadecimal digits at most, or {@code
   * <hash>~<label>}, where the label is escaped and bounded as in the lock key.
   */
  public static boolean isMark(String mark) {
    return HolderMark.isMark(mark);
  }

  /** A reply without a holder. */
  public static NodeReply of(Code code, long connection, long nodeMicros, long fence) {
    return new NodeReply(code, connection, nodeMicros, fence, 0, null, 0, null);
  }

  /** The reply that another lease has the lock. */
  public static NodeReply held(
      long connection, long nodeMicros, long fence, long remainingMillis, String mark) {
    return new NodeReply(Code.HELD, connection, nodeMicros, fence, remainingMillis, mark, 0, null);
  }

  /** No definite reply; the request may have been executed. */
  public static NodeReply failed(long connection, NodeError.Kind kind, String message) {
    return failed(connection, new NodeError(kind, message));
  }

  /** No definite reply. */
  public static NodeReply failed(long connection, NodeError error) {
    return new NodeReply(Code.FAILED, connection, 0, 0, 0, null, 0, error);
  }

  /** What a node replied to one request. */
  public enum Code {
    /** Acquire: the node stored the lease. */
    GRANTED,
    /**
     * Acquire: another lease has a key. Remaining life and mark belong to the key that expires
     * last.
     */
    HELD,
    /** Acquire, enqueue: the lock is free, but another process in the queue has its turn. */
    QUEUED,
    /** Enqueue: the lock is free on this node, and this process has its turn. */
    ADMITTED,
    /**
     * Acquire: the node does not accept the token. The reply carries the stored fence and the
     * node's time.
     */
    STALE,
    /** Extend: the key had this lease id; the node set its remaining life to the lease time. */
    EXTENDED,
    /** Extend: the key was missing and no later lease had ended; the node wrote it again. */
    REPAIRED,
    /** Extend: another lease has the key, or a later lease has ended. */
    LOST,
    /** Release: the key had this lease id and is deleted or shortened. Break: a key was deleted. */
    RELEASED,
    /**
     * Release: the key had another lease id or was missing; the fence was raised. Break: no key.
     */
    NOT_OWNER,
    /** No definite reply: what the node did is unknown. */
    FAILED;

    /** Whether the reply is definite. */
    public boolean definite() {
      return this != FAILED;
    }
  }
}
