package dev.redlock.cluster.internal;

import static dev.redlock.cluster.internal.Log.log;

import dev.redlock.cluster.ClusterOptions;
import dev.redlock.internal.text.Printable;
import dev.redlock.lettuce.internal.Errors;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.lettuce.internal.ThreadSharingClient;
import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.Time;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The masters of one cluster, from start to close: makes the parts that serve its nodes, and brings
 * them the events of connections and of the topology. {@link MasterLinks} knows which master serves
 * which slot, {@link Shares} are the nodes and their states, {@link TopologyWatch} asks the cluster
 * for changes, and {@link WatchedLocks} hears release hints.
 */
final class Masters implements LockNode.Listener, ClusterAccess {
  private final String name;
  private final Time time;
  private final LockNode.Context linkContext;
  private final SharedResources resources;
  private final Seeds seeds;

  /** How long a promoted master does not grant; zero if it may grant at once. */
  private final Duration quarantine;

  private final MasterLinks links;
  private final Shares shares;
  private final ThreadSharingClient side;
  private final TopologyWatch watch;
  private final WatchedLocks watchedLocks;

  /** Whether the last request for the topology failed. The watch makes one request at a time. */
  private boolean troubled;

  /**
   * @param context of the node that starts first; only its listener differs from that of the others
   * @param sharingAllowed whether two votes of one master count
   */
  Masters(
      String name,
      List<NodeUri> seeds,
      ClusterOptions options,
      Spread spread,
      boolean sharingAllowed,
      LockNode.Context context) {
    this.name = name;
    this.seeds = new Seeds(seeds);
    time = context.time();
    linkContext =
        new LockNode.Context(
            context.maxLeaseTime(),
            context.restartGuard(),
            context.keyPrefix(),
            context.label(),
            context.observes(),
            time,
            this);
    // Where a quorum of masters decides, one of them can be spared.
    quarantine =
        options.quarantinePromoted().orElse(spread.nodes() > 1)
            ? context.maxLeaseTime().plusSeconds(2)
            : Duration.ZERO;
    resources = new SharedResources(options.lettuce().clientResources());
    links = new MasterLinks(this.seeds, options.lettuce(), resources, linkContext, quarantine);
    shares = new Shares(name, spread, sharingAllowed, context, links);
    side = new ThreadSharingClient(resources, options.lettuce());
    watch =
        new TopologyWatch(
            this,
            side,
            time,
            options.refreshPeriod().toNanos(),
            options.lettuce().connectTimeout().toNanos());
    watchedLocks =
        switch (options.releaseHints()) {
          case SHARDED_PUBSUB ->
              new WatchedLocks(this, "SPUBLISH", locks -> new ChannelHints(this, locks, true));
          case PUBSUB ->
              new WatchedLocks(this, "PUBLISH", locks -> new ChannelHints(this, locks, false));
          case STREAM ->
              new WatchedLocks(this, WakeUps.STREAM, locks -> new StreamHints(this, locks));
          case NONE -> new WatchedLocks(this, "", locks -> (key, slot, micros) -> () -> {});
        };
  }

  /** A node was added: asks for the topology, or tells the node what is known. */
  void join() {
    if (links.topology() == null) {
      watch.refresh();
    } else {
      shares.review(List.of(), true);
    }
  }

  MasterLinks links() {
    return links;
  }

  Shares shares() {
    return shares;
  }

  WatchedLocks watchedLocks() {
    return watchedLocks;
  }

  void close() {
    List<MasterLink> all = links.close();
    if (all == null) {
      return;
    }
    watchedLocks.close();
    all.forEach(MasterLink::close);
    watch.close();
    resources.release(side.close());
  }

  /** Whether, after the close, the connections and their own threads have ended. */
  boolean areEnded() {
    return resources.areQuiet();
  }

  // The topology.

  /** A master reported that another master serves the slot. */
  void moved(int slot, Address to) {
    links.moved(slot, to);
    watch.refresh();
  }

  /** The masters that are connected. */
  List<MasterLink> connected() {
    return links.all().stream().filter(MasterLink::usable).toList();
  }

  /** The servers that may be asked for the topology over a new connection. */
  List<NodeUri> others(int maxReplicas) {
    List<NodeUri> others = new ArrayList<>(seeds.all());
    Topology known = links.topology();
    if (known != null) {
      List<Topology.Server> replicas = new ArrayList<>(known.replicas());
      Collections.shuffle(replicas);
      replicas.stream()
          .limit(maxReplicas)
          .map(replica -> seeds.uriOf(replica.endpoints().get(0)))
          .filter(uri -> others.stream().noneMatch(other -> other.name().equals(uri.name())))
          .forEach(others::add);
    }
    return others;
  }

  /** Whether this topology is older than the known one. */
  boolean isOutdated(Topology next) {
    return links.isOutdated(next);
  }

  /** Whether all masters are connected. */
  boolean isSettled() {
    return links.all().stream().allMatch(MasterLink::usable);
  }

  void unknown(Throwable failure) {
    String cause = "the cluster does not report its topology: " + Errors.message(failure);
    if (links.topology() == null) {
      shares.unknown(cause);
    }
    if (!troubled) {
      log.warn("{}: {}; retrying", name, cause);
    }
    troubled = true;
  }

  /**
   * Adopts a topology.
   *
   * @param sinceNanos when it was requested
   * @param from the seed that reported it; null if it was no seed
   * @return whether it differs from the known one
   */
  boolean adopt(Topology next, long sinceNanos, @Nullable NodeUri from) {
    MasterLinks.Change change = links.adopt(next, sinceNanos, from);
    if (change == null) {
      return false;
    }
    troubled = false;
    for (Topology.Server master : change.promoted()) {
      log.info("{}: promoted {} does not vote for {}", name, master, Printable.of(quarantine));
      MasterLink barred = links.linkOrNull(master);
      if (barred != null) { // Wake waiters when the quarantine is over.
        time.schedule(() -> onAllInvalidated(barred), quarantine.toNanos());
      }
    }
    List<MasterLink> gone = change.gone();
    if (!gone.isEmpty()) {
      log.info("{}: these servers are no longer masters, or have another address: {}", name, gone);
    }
    for (MasterLink link : gone) {
      link.close();
      watchedLocks.forget(link.address());
    }
    change.made().forEach(link -> link.start(linkContext));
    if (change.served()) {
      shares.onTopology(next);
    }
    shares.review(gone, change.served());
    if (change.served()) {
      watchedLocks.onTopology();
    }
    return change.served();
  }

  // Access for hint carriers.

  @Override
  public @Nullable MasterLink linkOf(int slot) {
    return links.linkOf(slot);
  }

  @Override
  public ThreadSharingClient sideClient() {
    return side;
  }

  @Override
  public RedisURI uriOf(Address address) {
    return seeds.uriOf(address).toRedisUri();
  }

  @Override
  public void topologyDoubtful() {
    watch.refresh();
  }

  @Override
  public void mayBeFree(String lockKey) {
    shares.ofKey(lockKey, share -> share.tellReleased(lockKey));
  }

  @Override
  public Time time() {
    return time;
  }

  // Events of the links.

  @Override
  public void onStatus(LockNode node) {
    MasterLink link = (MasterLink) node;
    boolean usable = link.usable();
    if (links.isClosed() || !links.include(link)) {
      return;
    }
    boolean lost = link.takeLoss();
    if (!usable) {
      watch.refresh();
    }
    shares.review(lost ? List.of(link) : List.of(), usable);
    if (usable) {
      watchedLocks.onUsable(link);
    }
  }

  @Override
  public void onClock(LockNode node, long nodeMicros, long sentNanos, long answeredNanos) {
    shares.ofLink(
        (MasterLink) node, share -> share.tellClock(nodeMicros, sentNanos, answeredNanos));
  }

  @Override
  public void onInvalidated(LockNode node, String key) {
    if (key.endsWith(EncodedRequest.FREED)) {
      watchedLocks.onInvalidated(key);
    } else {
      shares.ofKey(key, share -> share.tellInvalidated(key));
    }
  }

  @Override
  public void onAllInvalidated(LockNode node) {
    shares.ofLink((MasterLink) node, Share::tellAllInvalidated);
  }
}
