package dev.redlock.lettuce.internal;

import dev.redlock.lettuce.LettuceLockNode;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.scripts.EncodedRequest;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server, as an adapter uses it: start, send, ask, close. {@link ConnectionLoop} keeps the
 * server connected and {@link ConnectionStates} decides whether it may vote. Safe from any thread.
 */
public final class NodeConnection {
  private static final Logger log = LoggerFactory.getLogger(LettuceLockNode.class);
  private static final String NOT_STARTED = "not started";

  private final LockNode self;
  private final NodeUri uri;
  private final LettuceOptions options;
  private final SharedResources resources;
  private final boolean clustered;

  /** Set once by start, read by any thread; null before. */
  private volatile @Nullable ConnectionLoop loop;

  /** Set once by close, read by any thread. */
  private volatile boolean closed;

  /** A connection to an independent master. */
  public NodeConnection(
      LockNode self, NodeUri uri, LettuceOptions options, SharedResources resources) {
    this(self, uri, options, resources, false);
  }

  /**
   * A connection to a server.
   *
   * @param clustered whether the server is a master of a cluster. It then has no marker, its
   *     replicas cause no warning, and a promotion causes no quarantine
   */
  public NodeConnection(
      LockNode self,
      NodeUri uri,
      LettuceOptions options,
      SharedResources resources,
      boolean clustered) {
    this.self = self;
    this.uri = uri;
    this.options = options;
    this.resources = resources;
    this.clustered = clustered;
  }

  public String name() {
    return uri.name();
  }

  public NodeStatus status() {
    ConnectionLoop started = loop;
    NodeRecord none = clustered ? null : NodeRecord.NONE;
    return started == null
        ? new NodeStatus(State.CONNECTING, 1, 0, 0, NOT_STARTED, false, none)
        : started.status();
  }

  /** What the last probe found out; null if unknown. */
  public @Nullable NodeIdentity identity() {
    ConnectionLoop started = loop;
    return started == null ? null : started.identity();
  }

  /** Probes the server again if it is connected; completes afterwards, never exceptionally. */
  public CompletionStage<Void> probe() {
    ConnectionLoop started = loop;
    return started == null ? CompletableFuture.completedStage(null) : started.probeForDoctor();
  }

  /** Begins to connect. */
  public void start(LockNode.Context context) {
    ConnectionLoop started;
    synchronized (this) {
      if (loop != null || closed) {
        throw new IllegalStateException("node " + name() + " was started or closed before");
      }
      started =
          CleanThreads.call(
              () -> new ConnectionLoop(self, uri, options, resources, clustered, context));
      loop = started;
    }
    CleanThreads.run(started::start);
  }

  /** Sends the request, or fails it at once if it cannot be sent. */
  public void send(LockRequest request, Consumer<NodeReply> handler) {
    ConnectionLoop started = loop;
    NodeSession session = started == null ? null : started.session();
    if (started == null || session == null) {
      reply(notSent(), handler);
      return;
    }
    if (session.isForeign()) {
      NodeError why = new NodeError(NodeError.Kind.UNEXPECTED, status().cause(), true);
      reply(NodeReply.failed(status().connection(), why), handler);
      return;
    }
    boolean asks = request instanceof LockRequest.Acquire || request instanceof LockRequest.Extend;
    if (asks && started.mayHaveMissedAChange()) {
      reply(NodeReply.failed(status().connection(), LivenessWatch.UNREAD), handler);
      return;
    }
    EncodedRequest encoded;
    try {
      encoded = EncodedRequest.of(request, started.fenceLifeMillis());
    } catch (RuntimeException e) {
      reply(
          NodeReply.failed(
              status().connection(), NodeError.Kind.UNEXPECTED, "request cannot be encoded: " + e),
          handler);
      return;
    }
    session.send(encoded, false, handler);
  }

  /**
   * Sends an encoded request, or fails it at once if it cannot be sent.
   *
   * @param asking whether to send {@code ASKING} first: the server is about to receive the slot
   */
  public void send(EncodedRequest request, boolean asking, Consumer<NodeReply> handler) {
    NodeSession session = session();
    if (session == null) {
      reply(notSent(), handler);
    } else {
      session.send(request, asking, handler);
    }
  }

  /**
   * Sends another command. The server tracks the keys it reads, like those of scripts. Returns null
   * if the server is not connected.
   */
  public <T> @Nullable CompletionStage<T> dispatch(Command<byte[], byte[], T> command) {
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

  /** Changes the record of the server; {@link LockNode#change} says how. */
  public CompletionStage<NodeRecord> change(NodeRecord.Change change) {
    ConnectionLoop started = loop;
    return started == null
        ? CompletableFuture.failedStage(new IOException(NOT_STARTED))
        : started.change(change);
  }

  /**
   * A reader of the locks on the server, with a connection of its own.
   *
   * @throws IllegalStateException if the connection was not started, or is closed
   */
  public LockReader reader() {
    ConnectionLoop started = loop;
    if (started == null || closed) {
      throw new IllegalStateException("node " + name() + " is not started, or closed");
    }
    return started.reader();
  }

  /** Whether the server is connected and sends invalidations for the keys that were read. */
  public boolean tracks() {
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

  private void reply(NodeReply reply, Consumer<NodeReply> handler) {
    try {
      handler.accept(reply);
    } catch (RuntimeException | Error e) {
      log.error("node {}: a reply handler failed with an exception", name(), e);
    }
  }

  /** Ends the connection, and the threads if no other node uses them. Idempotent. */
  public void close() {
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
  public boolean isEnded() {
    return closed && (loop == null || resources.areQuiet());
  }
}
