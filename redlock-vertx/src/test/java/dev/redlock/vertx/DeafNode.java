package dev.redlock.vertx;

import dev.redlock.harness.ForwardingLockNode;
import dev.redlock.spi.LockNode;

/** A node whose invalidations never arrive. */
final class DeafNode extends ForwardingLockNode {
  DeafNode(LockNode node) {
    super(node);
  }

  @Override
  public boolean notifiesWaiters() {
    return false; // So the bus must wake the waiters.
  }

  @Override
  protected LockNode.Listener listener(LockNode.Listener client) {
    return new ForwardingListener(client) {
      @Override
      public void onInvalidated(LockNode inner, String key) {}

      @Override
      public void onAllInvalidated(LockNode inner) {}
    };
  }
}
