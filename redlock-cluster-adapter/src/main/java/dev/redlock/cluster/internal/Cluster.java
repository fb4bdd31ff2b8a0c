package dev.redlock.cluster.internal;

import dev.redlock.cluster.ClusterOptions;
import dev.redlock.internal.scripts.WireRequest;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.ReplyHandler;
import dev.redlock.spi.RestartGuard;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One cluster as one node. {@link Masters} knows who serves what and how they are, {@link Attempt}
 * brings one request to its answer, {@link Answers} says what that is worth as a vote.
 */
public final class Cluster {
  private final LockNode self;
  private final String name;
  private final List<NodeUri> seeds;
  private final ClusterOptions options;

  /** What there is once it was started. */
  private record Running(Masters masters, Answers answers, long fenceLifeMillis) {}

  /** Written once, under this. */
  private volatile @Nullable Running running;

  /** What it is without that. */
  private volatile NodeStatus idle = new NodeStatus(State.CONNECTING, 1, 0, 0, "not started");

  // Guarded by this.
  private boolean closed;

  public Cluster(LockNode self, String name, List<NodeUri> seeds, ClusterOptions options) {
    this.self = self;
    this.name = name;
    this.seeds = seeds;
    this.options = options;
  }

  public String name() {
    return name;
  }

  public NodeStatus status() {
    Running r = running;
    return r == null ? idle : r.masters.status();
  }

  /** The address of the master that serves a slot, as far as is known. */
  public Optional<String> masterOf(int slot) {
    Running r = running;
    return r == null ? Optional.empty() : r.masters.masterOf(slot);
  }

  /** The cluster as a whole; empty before any master was looked at. */
  public Optional<NodeIdentity> identity() {
    Running r = running;
    return r == null ? Optional.empty() : r.masters.identity();
  }

  /** The same, after each master was looked at once more. */
  public CompletionStage<Optional<NodeIdentity>> look() {
    Running r = running;
    return r == null ? CompletableFuture.completedStage(Optional.empty()) : r.masters.look();
  }

  public void start(NodeContext context) {
    if (context.restartGuard() == RestartGuard.MARKER) {
      throw new IllegalArgumentException(
          name
              + ": RestartGuard.marker() needs a marker on every master, which a cluster cannot"
              + " keep: slots move, and keys with them; use RestartGuard.uptime()");
    }
    Masters masters;
    synchronized (this) {
      if (running != null || closed) {
        throw new IllegalStateException(name + " was started or closed before");
      }
      masters = new Masters(self, name, seeds, options, context);
      running =
          new Running(
              masters,
              new Answers(name, masters),
              WireRequest.fenceLifeMillis(context.maxLeaseTime()));
    }
    masters.start();
  }

  /** Sends the request to where its names are, or answers why not. */
  public void send(LockRequest request, ReplyHandler handler) {
    Running r = running;
    if (r == null) {
      NodeStatus now = idle;
      Attempt.deliver(
          NodeReply.failed(now.connection(), NodeError.Kind.DISCONNECTED, now.cause()), handler);
      return;
    }
    Answers answers = r.answers;
    Notices notices = r.masters.notices();
    if (r.masters.isClosed() || !r.masters.areKnown()) {
      Attempt.deliver(answers.notSent(), handler);
      return;
    }
    ClusterWire wire;
    try {
      wire = ClusterWire.of(request, r.fenceLifeMillis, notices.command());
    } catch (RuntimeException e) {
      String why = "request cannot be encoded: " + e;
      Attempt.deliver(answers.failure(NodeError.Kind.UNEXPECTED, why), handler);
      return;
    }
    String complaint = wire.slot() == Slots.NONE ? Slots.complaint(request.keys()) : null;
    if (complaint != null) {
      Attempt.deliver(answers.failure(NodeError.Kind.CLUSTER, complaint), handler);
      return;
    }
    if (request instanceof LockRequest.Release release) {
      for (int i = 0; i < request.keys().size(); i++) {
        notices.releasing(request.keys().lockKey(i), release.token());
      }
    }
    new Attempt(r.masters, answers, options.redirectPatience(), request, wire, handler).begin();
  }

  public void waiting(LockKeys keys) {
    Running r = running;
    if (r != null) {
      r.masters.interests().waiting(keys);
    }
  }

  public void idle(LockKeys keys) {
    Running r = running;
    if (r != null) {
      r.masters.interests().idle(keys);
    }
  }

  public void close() {
    Running r;
    synchronized (this) {
      r = running;
      closed = true;
      idle = new NodeStatus(State.CONNECTING, 2, 0, 0, "closed");
    }
    if (r != null) {
      r.masters.close();
    }
  }
}
