package dev.redlock.cluster.internal;

import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.lettuce.internal.CleanThreads;
import dev.redlock.lettuce.internal.scripts.EncodedRequest;
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
public final class Cluster {
  private final LockNode self;
  private final String name;
  private final int node;
  private final Connections connections;

  /** The parts that exist after the start. */
  private record Running(
      Connections.Started started, ClusterReplies answers, long fenceLifeMillis) {
    Masters masters() {
      return started.masters();
    }

    Share share() {
      return started.share();
    }
  }

  /** Written once, guarded by this. */
  private volatile @Nullable Running running;

  /** The status before the start and after the close. */
  private volatile NodeStatus idle = new NodeStatus(State.CONNECTING, 1, 0, 0, "not started");

  // Guarded by this.
  private boolean closed;

  /**
   * @param node the number of the node among those that use the connections
   */
  public Cluster(LockNode self, String name, int node, Connections connections) {
    this.self = self;
    this.name = name;
    this.node = node;
    this.connections = connections;
  }

  public String name() {
    return name;
  }

  public NodeStatus status() {
    Running r = running;
    return r == null ? idle : r.share().status();
  }

  /**
   * The address of the master that serves a slot according to the current topology; empty if none
   * is known.
   */
  public Optional<String> masterOf(int slot) {
    Running r = running;
    return r == null ? Optional.empty() : r.masters().links().addressOf(slot);
  }

  /** The identity of the cluster; empty before the first master was probed. */
  public Optional<NodeIdentity> identity() {
    Running r = running;
    return r == null ? Optional.empty() : r.masters().shares().identity(r.share());
  }

  /** The same, after each master was probed again. */
  public CompletionStage<Optional<NodeIdentity>> probe() {
    Running r = running;
    return r == null
        ? CompletableFuture.completedStage(Optional.empty())
        : r.masters().shares().probe(r.share());
  }

  public void start(LockNode.Context context) {
    if (context.restartGuard() == RestartGuard.MARKER) {
      throw new IllegalArgumentException(
          name
              + ": RestartGuard.MARKER needs a marker on every master, which a cluster cannot"
              + " keep: keys move with their slots; use RestartGuard.UPTIME");
    }
    Connections.Started started;
    synchronized (this) {
      if (running != null || closed) {
        throw new IllegalStateException(name + " was started or closed before");
      }
      started = CleanThreads.call(() -> connections.start(self, node, context));
      running =
          new Running(
              started,
              new ClusterReplies(name, started.masters(), started.share()),
              EncodedRequest.fenceLifeMillis(context.maxLeaseTime().toMillis()));
    }
    CleanThreads.run(
        () -> {
          if (started.first()) {
            started.masters().start();
          } else {
            started.masters().welcome();
          }
        });
  }

  /** Sends the request to the master of its names, or replies with the reason why it cannot. */
  public void send(LockRequest asked, Consumer<NodeReply> handler) {
    Running r = running;
    if (r == null) {
      NodeStatus now = idle;
      RoutedRequest.deliver(
          NodeReply.failed(now.connection(), NodeError.Kind.DISCONNECTED, now.cause()), handler);
      return;
    }
    ClusterReplies answers = r.answers;
    WatchedLocks locks = r.masters().watchedLocks();
    if (r.share().isClosed() || r.masters().links().topology() == null) {
      RoutedRequest.deliver(answers.notSent(), handler);
      return;
    }
    LockRequest request;
    ClusterWire wire;
    boolean hinting;
    try {
      request = r.share().translate(asked);
      hinting = r.share().carriesHints(Slots.of(request.keys(), 0));
      wire = ClusterWire.of(request, r.fenceLifeMillis, hinting ? locks.command() : "");
    } catch (RuntimeException e) {
      String why = "request cannot be encoded: " + e;
      RoutedRequest.deliver(answers.failure(NodeError.Kind.UNEXPECTED, why), handler);
      return;
    }
    String complaint = wire.slot() == Slots.NONE ? Slots.complaint(request.keys()) : null;
    if (complaint != null) {
      RoutedRequest.deliver(answers.failure(NodeError.Kind.CLUSTER, complaint), handler);
      return;
    }
    if (hinting && request instanceof LockRequest.Release release) {
      for (int i = 0; i < request.keys().size(); i++) {
        locks.releasing(request.keys().lockKey(i), release.token());
      }
    }
    new RoutedRequest(
            r.masters(),
            answers,
            connections.options().redirectPatience().toNanos(),
            request,
            wire,
            handler)
        .begin();
  }

  /** A reader of the locks of this node on all masters of its slots. */
  public LockReader reader() {
    Running r = running;
    if (r == null || r.share().isClosed()) {
      throw new IllegalStateException(name + " is not started, or closed");
    }
    return new ClusterReader(r.masters(), r.share());
  }

  public void waiting(LockKeys keys) {
    Running r = running;
    if (r != null && carriesHints(r, keys)) {
      r.masters().watchedLocks().waiting(r.share().translate(keys));
    }
  }

  /** Whether releases are published to waiters of other processes. */
  public boolean notifiesWaiters() {
    return connections.options().releaseHints() != ClusterReleaseHints.NONE;
  }

  public void idle(LockKeys keys) {
    Running r = running;
    if (r != null && carriesHints(r, keys)) {
      r.masters().watchedLocks().idle(r.share().translate(keys));
    }
  }

  private static boolean carriesHints(Running r, LockKeys keys) {
    return r.share().carriesHints(Slots.of(r.share().translate(keys), 0));
  }

  public void close() {
    Running r;
    synchronized (this) {
      r = running;
      closed = true;
      idle = new NodeStatus(State.CONNECTING, 2, 0, 0, "closed");
    }
    if (r != null) {
      CleanThreads.run(() -> connections.close(r.started));
    }
  }

  /** Whether, after the close, nothing is left that only this node used. */
  public boolean isEnded() {
    Running r;
    synchronized (this) {
      r = running;
    }
    return r == null || r.started.masters().areEnded();
  }
}
