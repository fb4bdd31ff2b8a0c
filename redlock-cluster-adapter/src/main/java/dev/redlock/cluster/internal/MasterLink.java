package dev.redlock.cluster.internal;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.NodeConnection;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeReply;
import io.lettuce.core.protocol.Command;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The probed connection to one master of the cluster. */
final class MasterLink extends NodeConnection {
  private final Address address;
  private final long createdNanos;

  /** Written when the topology is adopted, read by senders; 0 if the master may grant. */
  private volatile long barredUntilNanos;

  /** Written by any thread that saw it usable, read when the topology is adopted. */
  private volatile boolean worked;

  /** The connection number that was seen last. Guarded by this. */
  private long seenConnection = 1;

  MasterLink(
      Address address,
      NodeUri uri,
      LettuceOptions options,
      SharedResources resources,
      long nowNanos) {
    super(uri, options, resources, true);
    this.address = address;
    this.createdNanos = nowNanos;
  }

  Address address() {
    return address;
  }

  long createdNanos() {
    return createdNanos;
  }

  @Override
  public void start(LockNode.Context context) {
    try {
      super.start(context);
    } catch (IllegalStateException e) {
      // It was closed in the meantime, and replies to every request with an error.
    }
  }

  boolean usable() {
    boolean usable = status().usable();
    if (usable) {
      worked = true;
    }
    return usable;
  }

  /** Whether it was usable at any time. */
  boolean hasWorked() {
    return usable() || worked;
  }

  /**
   * Whether the connection has changed since the last call. If so, earlier replies do not count.
   */
  synchronized boolean takeLoss() {
    long now = status().connection();
    boolean lost = now > seenConnection;
    seenConnection = now;
    return lost;
  }

  /** Keeps a promoted master from granting until then; 0 if it may. */
  void barUntil(long nanos) {
    barredUntilNanos = nanos;
  }

  /** For how many nanoseconds from now it must not grant; 0 if it may. */
  long barredForNanos(long nowNanos) {
    long until = barredUntilNanos;
    return until == 0 ? 0 : Math.max(0, until - nowNanos);
  }

  @Override
  protected void send(EncodedRequest request, boolean asking, Consumer<NodeReply> handler) {
    super.send(request, asking, handler); // Overridden so that this package may call it.
  }

  @Override
  protected <T> @Nullable CompletionStage<T> dispatch(Command<byte[], byte[], T> command) {
    return super.dispatch(command);
  }

  @Override
  public String toString() {
    return address.toString();
  }
}
