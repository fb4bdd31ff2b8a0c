package dev.redlock.harness;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockReader;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Forwards all calls to another node, and all events of that node to the client. A test extends it
 * to change one of them: to lose invalidations, to delay replies, to use another name.
 */
public class ForwardingLockNode implements LockNode {
  private final LockNode node;

  /**
   * @param node the node that does the work; given to no client itself
   */
  protected ForwardingLockNode(LockNode node) {
    this.node = node;
  }

  /** Creates the receiver of the other node's events. {@code client} receives those of this one. */
  protected LockNode.Listener listener(LockNode.Listener client) {
    return new ForwardingListener(client);
  }

  @Override
  public String name() {
    return node.name();
  }

  @Override
  public void start(LockNode.Context context) {
    node.start(
        new LockNode.Context(
            context.maxLeaseTime(),
            context.restartGuard(),
            context.keyPrefix(),
            context.label(),
            context.observes(),
            context.time(),
            listener(context.listener())));
  }

  @Override
  public NodeStatus status() {
    return node.status();
  }

  @Override
  public Optional<NodeIdentity> identity() {
    return node.identity();
  }

  @Override
  public CompletionStage<Optional<NodeIdentity>> probe() {
    return node.probe();
  }

  @Override
  public void send(LockRequest request, Consumer<NodeReply> handler) {
    node.send(request, handler);
  }

  @Override
  public CompletionStage<NodeRecord> change(NodeRecord.Change change) {
    return node.change(change);
  }

  /** The sibling of the other node, which nothing wraps. */
  @Override
  public Optional<LockNode> sibling(String name) {
    return node.sibling(name);
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
  public boolean notifiesWaiters() {
    return node.notifiesWaiters();
  }

  @Override
  public LockReader reader() {
    return node.reader();
  }

  @Override
  public void close() {
    node.close();
  }

  @Override
  public boolean isEnded() {
    return node.isEnded();
  }

  /** Forwards the events, as those of this node. */
  protected class ForwardingListener implements LockNode.Listener {
    private final LockNode.Listener client;

    /**
     * @param client receives the events
     */
    protected ForwardingListener(LockNode.Listener client) {
      this.client = client;
    }

    @Override
    public void onStatus(LockNode inner) {
      client.onStatus(ForwardingLockNode.this);
    }

    @Override
    public void onClock(LockNode inner, long nodeMicros, long sentNanos, long answeredNanos) {
      client.onClock(ForwardingLockNode.this, nodeMicros, sentNanos, answeredNanos);
    }

    @Override
    public @Nullable String objection(
        LockNode inner, @Nullable NodeIdentity identity, String markerId) {
      return client.objection(ForwardingLockNode.this, identity, markerId);
    }

    @Override
    public void onInvalidated(LockNode inner, String key) {
      client.onInvalidated(ForwardingLockNode.this, key);
    }

    @Override
    public void onReleaseHint(LockNode inner, String key) {
      client.onReleaseHint(ForwardingLockNode.this, key);
    }

    @Override
    public void onAllInvalidated(LockNode inner) {
      client.onAllInvalidated(ForwardingLockNode.this);
    }
  }
}
