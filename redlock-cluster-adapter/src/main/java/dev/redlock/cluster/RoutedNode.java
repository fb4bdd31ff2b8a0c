package dev.redlock.cluster;

import dev.redlock.cluster.internal.Cluster;
import dev.redlock.cluster.internal.Connections;
import dev.redlock.cluster.internal.Slots;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockReader;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * A node whose requests go to the masters of a cluster: the whole cluster, or one of the nodes over
 * which {@link ClusterNodes} spreads it.
 */
class RoutedNode implements LockNode {
  final Cluster cluster;

  /**
   * @param node the number of the node among those that use the connections
   */
  RoutedNode(String name, int node, Connections connections) {
    cluster = new Cluster(this, name, node, connections);
  }

  @Override
  public String name() {
    return cluster.name();
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException for {@code RestartGuard.MARKER}: a master of a cluster cannot
   *     keep a marker, because keys move to other masters with their slots
   */
  @Override
  public void start(LockNode.Context context) {
    cluster.start(context);
  }

  @Override
  public NodeStatus status() {
    return cluster.status();
  }

  @Override
  public Optional<NodeIdentity> identity() {
    return cluster.identity();
  }

  @Override
  public CompletionStage<Optional<NodeIdentity>> probe() {
    return cluster.probe();
  }

  @Override
  public void send(LockRequest request, Consumer<NodeReply> handler) {
    cluster.send(request, handler);
  }

  @Override
  public void requireServable(LockKeys keys) {
    Slots.requireOne(keys);
  }

  @Override
  public void waiting(LockKeys keys) {
    cluster.waiting(keys);
  }

  @Override
  public void idle(LockKeys keys) {
    cluster.idle(keys);
  }

  /** Whether a carrier of release hints is configured; invalidations are not counted. */
  @Override
  public boolean notifiesWaiters() {
    return cluster.notifiesWaiters();
  }

  /**
   * {@inheritDoc} Scans the masters of the node's slots, one after another. If the slot of a lock
   * moves to another master during the listing, the lock may be missing, or appear twice.
   */
  @Override
  public LockReader reader() {
    return cluster.reader();
  }

  @Override
  public void close() {
    cluster.close();
  }

  @Override
  public boolean isEnded() {
    return cluster.isEnded();
  }

  @Override
  public String toString() {
    return name();
  }
}
