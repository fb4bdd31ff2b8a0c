package dev.redlock.vertx;

import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeListener;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyHandler;

/** A node whose pushes never arrive. */
final class DeafNode implements LockNode {
  private final LockNode node;

  DeafNode(LockNode node) {
    this.node = node;
  }

  @Override
  public String name() {
    return node.name();
  }

  @Override
  public void start(NodeContext context) {
    NodeListener listener = context.listener();
    node.start(
        new NodeContext(
            context.maxLeaseTime(),
            context.restartGuard(),
            context.keyPrefix(),
            context.time(),
            new NodeListener() {
              @Override
              public void onStatus(LockNode inner) {
                listener.onStatus(DeafNode.this);
              }

              @Override
              public void onClock(LockNode inner, long micros, long sent, long answered) {
                listener.onClock(DeafNode.this, micros, sent, answered);
              }

              @Override
              public void onInvalidated(LockNode inner, String key) {}

              @Override
              public void onAllInvalidated(LockNode inner) {}
            }));
  }

  @Override
  public NodeStatus status() {
    return node.status();
  }

  @Override
  public void send(LockRequest request, ReplyHandler handler) {
    node.send(request, handler);
  }

  @Override
  public void close() {
    node.close();
  }
}
