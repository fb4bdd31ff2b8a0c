package dev.redlock.spi;

import org.jspecify.annotations.Nullable;

/** What a node tells the lock besides answers. Called on I/O threads; must not block. */
public interface NodeListener {

  /**
   * The state changed: connected, lost, quarantined, voting. {@code node.status()} is the new one.
   */
  void onStatus(LockNode node);

  /**
   * The node's clock was read, by probing: the first estimate of its offset.
   *
   * @param nodeMicros its clock, microseconds since 1970
   * @param sentNanos when it was asked for, on {@link Time#nanos()}
   * @param answeredNanos when the answer came
   */
  default void onClock(LockNode node, long nodeMicros, long sentNanos, long answeredNanos) {}

  /**
   * Asked whenever a server has been looked at, before it may vote: why it must not, whatever its
   * age. The node then stays {@link NodeStatus.State#QUARANTINED} with this cause, and looks again
   * now and then.
   *
   * @return null if there is nothing against it
   */
  default @Nullable String objection(LockNode node, NodeIdentity identity) {
    return null;
  }

  /**
   * The node says that this key was written, deleted or expired. A hint: it may be late, doubled or
   * false.
   *
   * @param key the whole lock key, as {@link LockKeys#lockKey(int)} makes it
   */
  void onInvalidated(LockNode node, String key);

  /**
   * The node tells of a release by another way than the connection that answers come on, so that
   * this may overtake the answer to a question that was executed before it. A hint.
   *
   * @param key the whole lock key
   */
  default void onNotice(LockNode node, String key) {
    onInvalidated(node, key);
  }

  /** The node says that anything may have changed (a flush, a lost subscription). A hint. */
  void onAllInvalidated(LockNode node);
}
