package dev.redlock.cluster.internal;

import dev.redlock.cluster.internal.ClusterStatus.Part;
import dev.redlock.redis.internal.GuardedListener;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * One node of the lock that the {@link Masters} serve: the whole cluster, or one of the nodes over
 * which it is {@link Spread}. Owns the status of this node, and translates between the keys of a
 * lock and those that this node stores. Exists from the start of the node to its close.
 *
 * <p>The node votes while at least one master of its slots votes. Its connection number rises
 * whenever the connection to one of these masters drops. That discards more votes than necessary,
 * but it is simple, and drops are rare.
 */
final class Share {
  /** A power of two, about the number of names in use at the same moment. */
  private static final int RECENT = 256;

  private final LockNode self;
  private final Spread spread;
  private final int node;
  private final GuardedListener listener;

  /** The masters whose replies counted as votes of this node. Written by I/O threads. */
  private final Set<MasterLink> voters = ConcurrentHashMap.newKeySet();

  /** Recently translated keys, at their hash. Any thread reads and writes it. */
  private final AtomicReferenceArray<@Nullable Translated> recent =
      new AtomicReferenceArray<>(RECENT);

  private record Translated(LockKeys keys, LockKeys own) {}

  /** Written under the lock of {@link Shares}, read by any thread. */
  private volatile NodeStatus status;

  private volatile boolean closed;

  // Guarded by the lock of Shares.
  private final ClusterStatus whole = new ClusterStatus();

  /**
   * @param node the number of the node in the spread
   */
  Share(LockNode self, Spread spread, int node, LockNode.Listener listener, long nowNanos) {
    this.self = self;
    this.spread = spread;
    this.node = node;
    this.listener = new GuardedListener(self, listener);
    status =
        new NodeStatus(
            State.CONNECTING,
            1,
            nowNanos,
            0,
            "still connecting for the first time; awaitReady waits for it");
  }

  int node() {
    return node;
  }

  NodeStatus status() {
    return status;
  }

  boolean isClosed() {
    return closed;
  }

  int firstSlot() {
    return spread.first(node);
  }

  int lastSlot() {
    return spread.last(node);
  }

  @Override
  public String toString() {
    return self.name();
  }

  // Keys.

  /** The request for the keys that this node stores. */
  LockRequest translate(LockRequest request) {
    return spread.nodes() == 1 ? request : request.withKeys(translate(request.keys()));
  }

  /** The keys that this node stores for these. */
  LockKeys translate(LockKeys keys) {
    if (spread.nodes() == 1) {
      return keys;
    }
    int at = keys.hashCode() & RECENT - 1;
    Translated known = recent.getAcquire(at);
    if (known == null || !known.keys.equals(keys)) {
      known = new Translated(keys, spread.keysAt(node, keys));
      recent.setRelease(at, known);
    }
    return known.own;
  }

  /** The key that this node uses for this one, a lock key. */
  String keyAt(String lockKey) {
    return spread.keyAt(node, lockKey);
  }

  /** Whether this node uses this key. */
  boolean isOwn(String key) {
    return spread.nodeOf(key) == node;
  }

  /** The key of the lock for this key of the node. */
  String original(String key) {
    return spread.original(key);
  }

  /** Whether this node publishes the release hints of the lock in this slot. */
  boolean carriesHints(int slot) {
    return spread.carriesHints(node, slot);
  }

  /** The node with a lower number whose slot is on the same master; see {@link Spread#sharer}. */
  int sharer(int slot, @Nullable Topology topology) {
    return topology == null || slot < firstSlot() || slot > lastSlot()
        ? -1
        : spread.sharer(node, slot, topology);
  }

  // Votes.

  /**
   * The connection number that a vote of this master carries. Called before the number of the
   * link's own connection is compared: a drop changes that one first, then this one.
   */
  long numberOfVote(MasterLink link) {
    voters.add(link); // A drop after this changes the number that is read next.
    return status.connection();
  }

  boolean hasVoteOf(MasterLink link) {
    return voters.contains(link);
  }

  /**
   * Whether replies of this link may be votes of this node: some were, or it serves slots of the
   * node, or the topology is not known.
   *
   * @param server the server of the link; null if it is not known as a master
   */
  boolean uses(MasterLink link, Topology.@Nullable Server server, @Nullable Topology known) {
    return voters.contains(link)
        || known == null
        || server == null
        || known.servesAny(server, firstSlot(), lastSlot());
  }

  void forget(MasterLink link) {
    voters.remove(link);
  }

  // The status. Called under the lock of Shares.

  /** Computes the status; returns whether it has changed. */
  boolean assess(List<Part> parts, @Nullable String objection, boolean lost, long nowNanos) {
    if (closed) {
      return false;
    }
    NodeStatus next =
        whole.next(status, parts, objection, status.connection() + (lost ? 1 : 0), nowNanos);
    boolean changed = !next.equals(status);
    status = next;
    return changed;
  }

  boolean waitsForOthers() {
    return whole.waitsForOthers();
  }

  /** Nothing is known of the cluster, for this reason. */
  void unknown(String cause) {
    if (!closed) {
      status = new NodeStatus(State.CONNECTING, status.connection(), status.sinceNanos(), 0, cause);
    }
  }

  /** Returns false if it was closed before. */
  boolean close(long nowNanos) {
    if (closed) {
      return false;
    }
    closed = true;
    status = new NodeStatus(State.CONNECTING, status.connection() + 1, nowNanos, 0, "closed");
    return true;
  }

  // The listener.

  void tellStatus() {
    listener.onStatus();
  }

  void tellClock(long nodeMicros, long sentNanos, long answeredNanos) {
    listener.onClock(nodeMicros, sentNanos, answeredNanos);
  }

  void tellInvalidated(String key) {
    listener.onInvalidated(original(key));
  }

  void tellReleased(String key) {
    listener.onReleaseHint(original(key));
  }

  void tellAllInvalidated() {
    listener.onAllInvalidated();
  }

  @Nullable String objectionTo(NodeIdentity known) {
    return listener.objection(known, "");
  }
}
