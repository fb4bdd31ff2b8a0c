package dev.redlock.vertx.internal;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeListener;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyHandler;

/** A node whose pushes are told to the other members of the Vert.x cluster as well. */
final class BridgedNode implements LockNode {
  private final LockNode node;
  private final BusHints bus;

  BridgedNode(LockNode node, BusHints bus) {
    this.node = node;
    this.bus = bus;
  }

  @Override
  public String name() {
    return node.name();
  }

  @Override
  public void start(NodeContext context) {
    NodeListener listener = context.listener();
    bus.keyPrefix(context.keyPrefix());
    node.start(
        new NodeContext(
            context.maxLeaseTime(),
            context.restartGuard(),
            context.keyPrefix(),
            context.time(),
            new NodeListener() {
              @Override
              public void onStatus(LockNode inner) {
                listener.onStatus(BridgedNode.this);
              }

              @Override
              public void onClock(LockNode inner, long micros, long sent, long answered) {
                listener.onClock(BridgedNode.this, micros, sent, answered);
              }

              @Override
              public void onInvalidated(LockNode inner, String key) {
                listener.onInvalidated(BridgedNode.this, key);
                bus.pushed(key);
              }

              @Override
              public void onNotice(LockNode inner, String key) {
                listener.onNotice(BridgedNode.this, key);
                bus.pushed(key);
              }

              @Override
              public void onAllInvalidated(LockNode inner) {
                listener.onAllInvalidated(BridgedNode.this);
              }
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
  public void requireServable(LockKeys keys) {
    node.requireServable(keys);
  }

  @Override
  public void waiting(LockKeys keys) {
    node.waiting(keys);
  }

  @Override
  public void idle(LockKeys keys) {
    node.idle(keys);
  }

  @Override
  public void close() {
    node.close();
  }
}
