package dev.redlock.spi;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One independent Redis master, or one Redis Cluster that acts as a single node, which votes on
 * locks.
 *
 * <p>No method blocks, {@link #send} never throws, and every request gets exactly one reply: {@link
 * NodeReply.Code#FAILED} if there is no definite reply. If one thread sends several requests while
 * {@link NodeStatus#connection()} stays the same, the node executes them in that order. So a
 * release undoes the acquire before it. A node puts a request on the wire once at most, and never
 * sends it again by itself.
 */
public interface LockNode extends AutoCloseable {

  /** The name of this node in reports and logs; contains no credentials. */
  String name();

  /**
   * Starts to connect and keeps trying until {@link #close()}. Returns at once; an unreachable node
   * is not an error. The {@code Redlock} that owns this node calls it once.
   */
  void start(Context context);

  /** The current status of the connection. A cheap snapshot, safe from any thread. */
  NodeStatus status();

  /** The result of the last probe of the server; empty if unknown. */
  default Optional<NodeIdentity> identity() {
    return Optional.empty();
  }

  /**
   * Probes the server again, for {@link dev.redlock.operations.Operations#doctor()}. Completes with
   * the result, never exceptionally. If the node does not reply, the stage may never complete.
   */
  default CompletionStage<Optional<NodeIdentity>> probe() {
    return CompletableFuture.completedStage(identity());
  }

  /**
   * Changes what the server stores about the set of nodes, if it keeps a {@linkplain
   * NodeStatus#record record}. The node publishes the new record with a new connection number
   * before the stage completes.
   *
   * @return the record that the server has then, whether or not the change was made; exceptionally
   *     if the server did not reply, or there is no connection
   */
  default CompletionStage<NodeRecord> change(NodeRecord.Change change) {
    return CompletableFuture.failedStage(
        new UnsupportedOperationException("node " + name() + " keeps no record"));
  }

  /**
   * Makes a node for another server of this name, with the credentials and options of this one. It
   * is not started.
   *
   * @return empty if this kind of node cannot: the client then does not follow a change of the set
   *     to servers that it was not given
   */
  default Optional<LockNode> sibling(String name) {
    return Optional.empty();
  }

  /**
   * Sends a request. Replies {@link NodeReply.Code#FAILED} if there is no probed connection or too
   * many requests have no reply yet. A quarantined node receives requests like any other: the
   * protocol decides which votes count.
   *
   * @param handler receives the one reply, possibly before this method returns and on an I/O
   *     thread: it must not block
   */
  void send(LockRequest request, Consumer<NodeReply> handler);

  /**
   * Makes a reader of the locks that this node stores, for {@link
   * dev.redlock.operations.Operations#list}. Called after {@link #start}.
   *
   * @throws UnsupportedOperationException if this kind of node cannot be listed
   */
  default LockReader reader() {
    throw new UnsupportedOperationException("node " + name() + " cannot list its locks");
  }

  /**
   * Checks that this node can decide on all these names at once. The client calls it when it makes
   * a lock, before it sends a request.
   *
   * @throws IllegalArgumentException with the names that do not go together
   */
  default void requireServable(LockKeys keys) {}

  /**
   * A caller of this process begins to wait for these names, if only for the one round trip of a
   * free lock. For nodes that must subscribe to release hints; must neither block nor throw.
   */
  default void waiting(LockKeys keys) {}

  /** That caller no longer waits for these names. One call for each call of {@link #waiting}. */
  default void idle(LockKeys keys) {}

  /**
   * Whether this node itself notifies waiters of a release at present, by invalidations or by its
   * own carrier. A cheap snapshot. If false, {@link ReleaseHints} carriers are needed for a fast
   * hand-over.
   */
  default boolean notifiesWaiters() {
    return false;
  }

  /** Drops the connection. Requests without a reply get {@link NodeReply.Code#FAILED}. */
  @Override
  void close();

  /**
   * Whether, after {@link #close()}, nothing of this node is left: its connection and its own
   * threads have ended. A cheap snapshot; the client asks until it is true, for a short time.
   */
  default boolean isEnded() {
    return true;
  }

  /**
   * What a node needs to know about the deployment.
   *
   * @param maxLeaseTime the longest lease time of the deployment; a node that may have forgotten
   *     leases stays in quarantine for at least that long
   * @param restartGuard how the node detects this
   * @param keyPrefix the prefix of all keys; {@code redlock} unless configured
   * @param label the {@linkplain dev.redlock.RedlockBuilder#label label} of the client, for the
   *     people who look at the server; empty if it has none
   * @param observes whether the client only looks: the node writes nothing by itself, not even its
   *     marker
   * @param time the clock and timer to use
   * @param listener receives changes of the status and invalidations; called on I/O threads, never
   *     blocks
   */
  record Context(
      Duration maxLeaseTime,
      RestartGuard restartGuard,
      String keyPrefix,
      String label,
      boolean observes,
      Time time,
      Listener listener) {

    /** The same for a node that an operator adds: it gets its marker, whatever the client does. */
    public Context thatWrites() {
      return new Context(maxLeaseTime, restartGuard, keyPrefix, label, false, time, listener);
    }
  }

  /** Receives what a node reports beside its replies. Called on I/O threads; must not block. */
  interface Listener {

    /** The status changed. {@code node.status()} is the new one. */
    void onStatus(LockNode node);

    /**
     * A probe read the node's clock: the first estimate of its offset. The node calls this for each
     * new connection before it sends a request there, because lease ids depend on what this
     * connection, and no other, was told.
     *
     * @param nodeMicros the node's clock, in microseconds since 1970
     * @param sentNanos when the client sent the request, on {@link Time#nanos()}
     * @param answeredNanos when the reply arrived
     */
    default void onClock(LockNode node, long nodeMicros, long sentNanos, long answeredNanos) {}

    /**
     * Says why a server must not vote, whatever its age. Called after each probe, before the server
     * may vote. With an objection the node stays {@link NodeStatus.State#QUARANTINED} with this
     * cause, and the client probes it again from time to time.
     *
     * @param identity the reported facts; null if this user may not run {@code INFO}
     * @param markerId identifies the server's marker among all servers; empty if there is no
     *     marker, or it could not be read
     * @return null if there is no objection
     */
    default @Nullable String objection(
        LockNode node, @Nullable NodeIdentity identity, String markerId) {
      return null;
    }

    /**
     * An invalidation arrived: this key was written, deleted or expired. Serves as a release hint:
     * it may be late, duplicated or false.
     *
     * @param key the whole key: a lock key as {@link LockKeys#lockKey(int)} returns it, a wake key
     *     or a watch key
     */
    void onInvalidated(LockNode node, String key);

    /**
     * A release hint of the node arrived on another connection than the replies. It may therefore
     * overtake the reply to a request that the node executed earlier.
     *
     * @param key the whole lock key
     */
    default void onReleaseHint(LockNode node, String key) {
      onInvalidated(node, key);
    }

    /** Any key may have changed: after a flush, or after a lost subscription. */
    void onAllInvalidated(LockNode node);
  }

  /**
   * Makes nodes from URIs. An adapter provides one as a service of {@link java.util.ServiceLoader},
   * so that {@code RedlockBuilder.nodes(String...)} works with core and that adapter alone. The
   * module {@code redlock-lettuce} has the one for {@code redis://} and {@code rediss://}. On the
   * class path {@code META-INF/services/dev.redlock.spi.LockNode$Factory} names it.
   */
  interface Factory {
    /**
     * Makes one node per URI, in the order of the URIs. Connects to none of them.
     *
     * @param uris at least one
     * @throws IllegalArgumentException if a URI is invalid, or two URIs name the same server; the
     *     message contains no password
     */
    List<LockNode> nodes(List<String> uris);
  }
}
