package dev.redlock.cluster.internal;

import dev.redlock.internal.scripts.WireRequest;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.NodeConnection;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyHandler;
import io.lettuce.core.protocol.Command;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The probed connection to one master of the cluster. */
final class MasterLink implements LockNode {
  private final Address address;
  private final NodeConnection connection;
  private final long createdNanos;

  /** Written when the topology is adopted, read by senders; 0 if it may grant. */
  private volatile long barredUntilNanos;

  /** Guarded by the lock of the masters: the connection number that was last seen. */
  private long seenConnection = 1;

  MasterLink(
      Address address,
      NodeUri uri,
      LettuceOptions options,
      SharedResources resources,
      long nowNanos) {
    this.address = address;
    this.createdNanos = nowNanos;
    connection = new NodeConnection(this, uri, options, resources, true);
  }

  Address address() {
    return address;
  }

  long createdNanos() {
    return createdNanos;
  }

  @Override
  public String name() {
    return connection.name();
  }

  @Override
  public void start(NodeContext context) {
    try {
      connection.start(context);
    } catch (IllegalStateException e) {
      // Closed in the meantime: it refuses everything.
    }
  }

  @Override
  public NodeStatus status() {
    return connection.status();
  }

  boolean usable() {
    return status().usable();
  }

  /** Whether the server pushes what becomes of keys. */
  boolean tracks() {
    return connection.tracks();
  }

  @Nullable NodeIdentity known() {
    return connection.identity();
  }

  /** Completes, never exceptionally, when the server has been looked at, if it answers. */
  CompletionStage<Void> lookAgain() {
    return connection.look();
  }

  /** Whether the connection has changed since this was last asked, so that old answers are void. */
  boolean takeLoss() {
    long now = status().connection();
    boolean lost = now > seenConnection;
    seenConnection = now;
    return lost;
  }

  /** It was promoted, and shall not grant until then. */
  void barUntil(long nanos) {
    barredUntilNanos = nanos;
  }

  /** How much longer it may not grant. */
  long barredForNanos(long nowNanos) {
    long until = barredUntilNanos;
    return until == 0 ? 0 : Math.max(0, until - nowNanos);
  }

  void send(WireRequest request, boolean asking, ReplyHandler handler) {
    connection.send(request, asking, handler);
  }

  /** Null if there is no connection. */
  <T> @Nullable CompletionStage<T> dispatch(Command<byte[], byte[], T> command) {
    return connection.dispatch(command);
  }

  @Override
  public void send(LockRequest request, ReplyHandler handler) {
    connection.send(request, handler);
  }

  @Override
  public void close() {
    connection.close();
  }

  @Override
  public String toString() {
    return address.toString();
  }
}
