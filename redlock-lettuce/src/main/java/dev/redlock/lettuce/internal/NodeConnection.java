package dev.redlock.lettuce.internal;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.redis.internal.ConnectionStates;
import dev.redlock.redis.internal.GuardedListener;
import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockReader;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import io.lettuce.core.protocol.Command;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One server behind one connection: what an independent master and a master of a cluster share.
 * {@link ConnectionLoop} keeps the server connected and {@link ConnectionStates} decides whether it
 * may vote. Safe from any thread.
 */
public class NodeConnection implements LockNode {
  private static final String NOT_STARTED = "not started";

  protected final NodeUri uri;
  protected final LettuceOptions options;
  protected final SharedResources resources;
  private final boolean clustered;

  /** Set once by start, read by any thread; null before. */
  private volatile @Nullable ConnectionLoop loop;

  /** Set once by close, read by any thread. */
  private volatile boolean closed;

  /**
   * A connection to a server.
   *
   * @param clustered whether the server is a master of a cluster. It then has no marker, its
   *     replicas cause no warning, and a promotion causes no quarantine
   */
  public NodeConnection(
      NodeUri uri, LettuceOptions options, SharedResources resources, boolean clustered) {
    this.uri = uri;
    this.options = options;
    this.resources = resources;
    this.clustered = clustered;
  }

  @Override
  public final String name() {
    return uri.name();
  }

  @Override
  public final NodeStatus status() {
    ConnectionLoop started = loop;
    NodeRecord none = clustered ? null : NodeRecord.NONE;
    return started == null
        ? new NodeStatus(State.CONNECTING, 1, 0, 0, NOT_STARTED, false, none)
        : started.status();
  }

  @Override
  public final Optional<NodeIdentity> identity() {
    ConnectionLoop started = loop;
    return started == null ? Optional.empty() : Optional.ofNullable(started.identity());
  }

  @Override
  public final CompletionStage<Optional<NodeIdentity>> probe() {
    ConnectionLoop started = loop;
    return started == null
        ? CompletableFuture.completedStage(Optional.empty())
        : started.probeForDoctor().thenApply(done -> identity());
  }

  @Override
  public void start(LockNode.Context context) {
    ConnectionLoop started;
    synchronized (this) {
      if (loop != null || closed) {
        throw new IllegalStateException("node " + name() + " was started or closed before");
      }
      started =
          CleanThreads.call(
              () -> new ConnectionLoop(this, uri, options, resources, clustered, context));
      loop = started;
    }
    CleanThreads.run(started::start);
  }

  @Override
  public final void send(LockRequest request, Consumer<NodeReply> handler) {
    ConnectionLoop started = loop;
    NodeSession session = started == null ? null : started.session();
    if (started == null || session == null) {
      GuardedListener.reply(name(), notSent(), handler);
      return;
    }
    if (session.isForeign()) {
      NodeError why = new NodeError(NodeError.Kind.UNEXPECTED, status().cause(), true);
      GuardedListener.reply(name(), NodeReply.failed(status().connection(), why), handler);
      return;
    }
    boolean asks = request instanceof LockRequest.Acquire || request instanceof LockRequest.Extend;
    if (asks && started.mayHaveMissedAChange()) {
      GuardedListener.reply(
          name(), NodeReply.failed(status().connection(), LivenessWatch.UNREAD), handler);
      return;
    }
    session.send(EncodedRequest.of(request, started.fenceLifeMillis()), false, handler);
  }

  /**
   * Sends an encoded request, or fails it at once if it cannot be sent.
   *
   * @param asking whether to send {@code ASKING} first: the server is about to receive the slot
   */
  protected void send(EncodedRequest request, boolean asking, Consumer<NodeReply> handler) {
    NodeSession session = session();
    if (session == null) {
      GuardedListener.reply(name(), notSent(), handler);
    } else {
      session.send(request, asking, handler);
    }
  }

  /**
   * Sends another command. The server tracks the keys it reads, like those of scripts. Returns null
   * if the server is not connected.
   */
  protected <T> @Nullable CompletionStage<T> dispatch(Command<byte[], byte[], T> command) {
    NodeSession session = session();
    if (session == null) {
      return null;
    }
    try {
      return session.dispatch(command);
    } catch (RuntimeException e) {
      return null; // The connection ended at this moment.
    }
  }

  @Override
  public final CompletionStage<NodeRecord> change(NodeRecord.Change change) {
    ConnectionLoop started = loop;
    return started == null
        ? CompletableFuture.failedStage(new IOException(NOT_STARTED))
        : started.change(change);
  }

  /**
   * A reader of the locks on the server.
   *
   * @throws IllegalStateException if the connection was not started, or is closed
   */
  @Override
  public final LockReader reader() {
    ConnectionLoop started = loop;
    if (started == null || closed) {
      throw new IllegalStateException("node " + name() + " is not started, or closed");
    }
    return started.reader();
  }

  /** Whether the server is connected and sends invalidations for the keys that were read. */
  @Override
  public final boolean notifiesWaiters() {
    ConnectionLoop started = loop;
    return started != null && started.tracks();
  }

  private @Nullable NodeSession session() {
    ConnectionLoop started = loop;
    return started == null ? null : started.session();
  }

  private NodeReply notSent() {
    ConnectionLoop started = loop;
    NodeError why =
        started != null
            ? started.whyNot()
            : closed ? ConnectionLoop.CLOSED : ConnectionLoop.CONNECTING;
    return NodeReply.failed(status().connection(), new NodeError(why.kind(), why.message(), true));
  }

  /** Ends the connection, and the threads if no other node uses them. Idempotent. */
  @Override
  public final void close() {
    ConnectionLoop started;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      started = loop;
    }
    if (started != null) {
      CleanThreads.run(started::close);
    }
  }

  /** Whether, after {@link #close}, the connection has ended, and own threads with the last one. */
  @Override
  public final boolean isEnded() {
    return closed && (loop == null || resources.areQuiet());
  }

  @Override
  public String toString() {
    return name();
  }
}
