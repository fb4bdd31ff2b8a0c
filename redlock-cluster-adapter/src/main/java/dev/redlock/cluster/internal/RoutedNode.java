package dev.redlock.cluster.internal;

import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.lettuce.internal.CleanThreads;
import dev.redlock.redis.internal.GuardedListener;
import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockReader;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.RestartGuard;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One cluster as one node, or as one of several. {@link Masters} holds the topology and the
 * connections, {@link Share} the state and the keys of this node, {@link RoutedRequest} sends one
 * request and follows redirections, and {@link ClusterReplies} turns the reply of a master into the
 * reply of the node.
 */
public class RoutedNode implements LockNode {
  private final String name;
  private final int node;
  private final Connections connections;

  /** The parts that exist after the start. */
  private record Running(
      Masters masters, Share share, ClusterReplies answers, long fenceLifeMillis) {}

  /** Written once, guarded by this. */
  private volatile @Nullable Running running;

  /** The status before the start and after the close. */
  private volatile NodeStatus idle = new NodeStatus(State.CONNECTING, 1, 0, 0, "not started");

  // Guarded by this.
  private boolean closed;

  /**
   * @param node the number of the node among those that use the connections
   */
  public RoutedNode(String name, int node, Connections connections) {
    this.name = name;
    this.node = node;
    this.connections = connections;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final NodeStatus status() {
    Running r = running;
    return r == null ? idle : r.share.status();
  }

  @Override
  public final Optional<NodeIdentity> identity() {
    Running r = running;
    return r == null ? Optional.empty() : r.masters.shares().identity(r.share);
  }

  @Override
  public final CompletionStage<Optional<NodeIdentity>> probe() {
    Running r = running;
    return r == null
        ? CompletableFuture.completedStage(Optional.empty())
        : r.masters.shares().probe(r.share);
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException for {@code RestartGuard.MARKER}: a master of a cluster cannot
   *     keep a marker, because keys move to other masters with their slots
   */
  @Override
  public final void start(LockNode.Context context) {
    if (context.restartGuard() == RestartGuard.MARKER) {
      throw new IllegalArgumentException(
          name
              + ": RestartGuard.MARKER needs a marker on every master, which a cluster cannot"
              + " keep: keys move with their slots; use RestartGuard.UPTIME");
    }
    Running started;
    synchronized (this) {
      if (running != null || closed) {
        throw new IllegalStateException(name + " was started or closed before");
      }
      Masters masters = CleanThreads.call(() -> connections.masters(name, context));
      Share share = masters.shares().add(this, node, context);
      started =
          new Running(
              masters,
              share,
              new ClusterReplies(name, masters, share),
              EncodedRequest.fenceLifeMillis(context.maxLeaseTime().toMillis()));
      running = started;
    }
    CleanThreads.run(started.masters::join);
  }

  /** Sends the request to the master of its names, or replies with the reason why it cannot. */
  @Override
  public final void send(LockRequest asked, Consumer<NodeReply> handler) {
    Running r = running;
    if (r == null) {
      NodeStatus now = idle;
      GuardedListener.reply(
          name,
          NodeReply.failed(now.connection(), NodeError.Kind.DISCONNECTED, now.cause()),
          handler);
      return;
    }
    if (r.share.isClosed() || r.masters.links().topology() == null) {
      GuardedListener.reply(name, r.answers.notSent(), handler);
      return;
    }
    new RoutedRequest(r.masters, r.answers, r.share.translate(asked), r.fenceLifeMillis, handler)
        .begin();
  }

  @Override
  public final void requireServable(LockKeys keys) {
    Slots.requireOne(keys);
  }

  /**
   * {@inheritDoc} Scans the masters of the node's slots, one after another. If the slot of a lock
   * moves to another master during the listing, the lock may be missing, or appear twice.
   */
  @Override
  public final LockReader reader() {
    Running r = running;
    if (r == null || r.share.isClosed()) {
      throw new IllegalStateException(name + " is not started, or closed");
    }
    return new ClusterReader(r.masters, r.share);
  }

  @Override
  public final void waiting(LockKeys keys) {
    Running r = running;
    if (r != null && carriesHints(r, keys)) {
      r.masters.watchedLocks().waiting(r.share.translate(keys));
    }
  }

  /** Whether a carrier of release hints is configured; invalidations are not counted. */
  @Override
  public final boolean notifiesWaiters() {
    return connections.options().releaseHints() != ClusterReleaseHints.NONE;
  }

  @Override
  public final void idle(LockKeys keys) {
    Running r = running;
    if (r != null && carriesHints(r, keys)) {
      r.masters.watchedLocks().idle(r.share.translate(keys));
    }
  }

  private static boolean carriesHints(Running r, LockKeys keys) {
    return r.share.carriesHints(Slots.of(r.share.translate(keys), 0));
  }

  @Override
  public final void close() {
    Running r;
    synchronized (this) {
      r = running;
      closed = true;
      idle = new NodeStatus(State.CONNECTING, 2, 0, 0, "closed");
    }
    if (r != null) {
      CleanThreads.run(() -> connections.close(r.masters, r.share));
    }
  }

  @Override
  public final boolean isEnded() {
    Running r;
    synchronized (this) {
      r = running;
    }
    return r == null || r.masters.areEnded();
  }

  @Override
  public String toString() {
    return name;
  }
}
