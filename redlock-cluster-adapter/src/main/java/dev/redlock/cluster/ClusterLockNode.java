package dev.redlock.cluster;

import dev.redlock.cluster.internal.Cluster;
import dev.redlock.cluster.internal.Slots;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyHandler;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * One Redis Cluster, seen as a single node: alone it is its own quorum of one, several clusters can
 * be the nodes of one lock.
 *
 * <pre>{@code
 * Redlock redlock = Redlock.builder().node(ClusterLockNode.connect("redis://10.0.0.1:6379")).build();
 * }</pre>
 *
 * <p>A cluster replicates asynchronously, so a failover can lose a lease that its holder still
 * trusts, and grant the lock again: {@code docs/cluster.md} tells when, and what to do about it.
 * Redlock over independent masters has no such gap.
 *
 * <p>Requests for a name go to the master of its slot; redirections are followed for {@link
 * ClusterOptions#redirectPatience()} and then answered as a vote. Names of a multi-lock must share
 * a slot. Safe from any thread.
 */
public final class ClusterLockNode implements LockNode {
  private final Cluster cluster;
  private final SlotLocator locator;

  private ClusterLockNode(List<NodeUri> seeds, ClusterOptions options) {
    String name =
        options.name().isEmpty()
            ? "cluster " + seeds.stream().map(NodeUri::name).sorted().findFirst().orElseThrow()
            : options.name();
    cluster = new Cluster(this, name, seeds, options);
    locator = new SlotLocator(cluster);
  }

  /**
   * The cluster that these servers are part of, with default options. One is enough; more help
   * while some are down. Nothing is connected before {@link #start}.
   *
   * @throws IllegalArgumentException if there is no URI, or one cannot be read
   */
  public static ClusterLockNode connect(String... uris) {
    return connect(List.of(uris), ClusterOptions.defaults());
  }

  /**
   * The cluster that these servers are part of.
   *
   * @throws IllegalArgumentException if there is no URI, or one cannot be read; the message holds
   *     no password
   */
  public static ClusterLockNode connect(List<String> uris, ClusterOptions options) {
    if (uris.isEmpty()) {
      throw new IllegalArgumentException("a cluster needs the URI of one of its servers at least");
    }
    return new ClusterLockNode(uris.stream().map(NodeUri::parse).toList(), options);
  }

  /** Tells slot and master of names. */
  public SlotLocator locator() {
    return locator;
  }

  @Override
  public String name() {
    return cluster.name();
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException for {@code RestartGuard.marker()}: a master of a cluster
   *     cannot keep a marker of its own, because slots move, and keys with them
   */
  @Override
  public void start(NodeContext context) {
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
  public CompletionStage<Optional<NodeIdentity>> look() {
    return cluster.look();
  }

  @Override
  public void send(LockRequest request, ReplyHandler handler) {
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

  @Override
  public void close() {
    cluster.close();
  }

  @Override
  public String toString() {
    return name();
  }
}
