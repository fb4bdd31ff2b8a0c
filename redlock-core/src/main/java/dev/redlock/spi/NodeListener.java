package dev.redlock.spi;

import org.jspecify.annotations.Nullable;

/** Receives what a node reports beside its replies. Called on I/O threads; must not block. */
public interface NodeListener {

  /** The status changed. {@code node.status()} is the new one. */
  void onStatus(LockNode node);

  /**
   * A probe read the node's clock: the first estimate of its offset. The node calls this for each
   * new connection before it sends a request there, because lease ids depend on what this
   * connection, and no other, was told.
   *
   * @param nodeMicros the node's clock, in microseconds since 1970
   * @param sentNanos when the client sent the request, on {@link Time#nanos()}
   * @param answeredNanos when the reply arrived
   */
  default void onClock(LockNode node, long nodeMicros, long sentNanos, long answeredNanos) {}

  /**
   * Says why a server must not vote, whatever its age. Called after each probe, before the server
   * may vote. With an objection the node stays {@link NodeStatus.State#QUARANTINED} with this
   * cause, and the client probes it again from time to time.
   *
   * @param identity the reported facts; null if this user may not run {@code INFO}
   * @param markerId identifies the server's marker among all servers; empty if there is no marker,
   *     or it could not be read
   * @return null if there is no objection
   */
  default @Nullable String objection(
      LockNode node, @Nullable NodeIdentity identity, String markerId) {
    return null;
  }

  /**
   * An invalidation arrived: this key was written, deleted or expired. Serves as a release hint: it
   * may be late, duplicated or false.
   *
   * @param key the whole key: a lock key as {@link LockKeys#lockKey(int)} returns it, a wake key or
   *     a watch key
   */
  void onInvalidated(LockNode node, String key);

  /**
   * A release hint of the node arrived on another connection than the replies. It may therefore
   * overtake the reply to a request that the node executed earlier.
   *
   * @param key the whole lock key
   */
  default void onReleaseHint(LockNode node, String key) {
    onInvalidated(node, key);
  }

  /** Any key may have changed: after a flush, or after a lost subscription. */
  void onAllInvalidated(LockNode node);
}
