package dev.redlock.cluster.internal;

import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.lettuce.internal.Failures;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.lettuce.internal.ThreadSharingClient;
import dev.redlock.lettuce.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeListener;
import dev.redlock.spi.Time;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The masters of one cluster, each with its probed connection, and the nodes that they serve: one,
 * or several {@link Share}s of a {@link Spread} cluster, whose states follow from the states of the
 * masters. Exists from start to close.
 */
final class Masters implements NodeListener, ClusterAccess, TopologyWatch.Cluster {
  private static final Logger log = LoggerFactory.getLogger(ClusterLockNode.class);

  /** How long an endpoint that has never worked is tried while the server has others. */
  private static final long TRY_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  private final String name;
  private final List<NodeUri> seeds;
  private final ClusterOptions options;
  private final Spread spread;
  private final boolean sharingAllowed;
  private final boolean quarantinePromoted;
  private final NodeContext context;
  private final NodeContext linkContext;
  private final Time time;
  private final SharedResources resources;
  private final TopologyWatch watch;
  private final SideClient side;
  private final HintCarrier hints;
  private final Interests interests;
  private final @Nullable ReplicaConfirmation confirmation;
  private final Object lock = new Object();

  /** The seed whose credentials serve for servers that are no seeds. Written under the lock. */
  private volatile NodeUri model;

  /**
   * The links by {@link Topology.Server#key()}: a server that changes its name or address keeps its
   * connection. Written under the lock, read by senders.
   */
  private final Map<String, MasterLink> links = new ConcurrentHashMap<>();

  private volatile @Nullable Topology topology;
  private volatile boolean closed;

  /** The nodes that were started, in that order. Written under the lock. */
  private final List<Share> shares = new CopyOnWriteArrayList<>();

  /** How each node shares masters with nodes of a lower number. Written when it changes. */
  private final SharedVotes sharedVotes;

  // Guarded by lock.
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
      NodeContext context) {
    this.name = name;
    this.spread = spread;
    this.sharingAllowed = sharingAllowed;
    sharedVotes = new SharedVotes(name, spread, sharingAllowed);
    this.seeds = seeds;
    model = seeds.get(0);
    this.options = options;
    // Where a quorum of masters decides, one of them can be spared.
    quarantinePromoted = options.quarantinePromoted().orElse(spread.nodes() > 1);
    this.context = context;
    time = context.time();
    linkContext =
        new NodeContext(
            context.maxLeaseTime(),
            context.restartGuard(),
            context.keyPrefix(),
            context.label(),
            time,
            this);
    resources = new SharedResources(options.lettuce().clientResources());
    ClientResources threads = resources.acquire();
    watch =
        new TopologyWatch(
            this,
            time,
            options.refreshPeriod().toNanos(),
            options.lettuce().connectTimeout().toNanos());
    side = new SideClient(threads, options.lettuce());
    hints =
        switch (options.releaseHints()) {
          case SHARDED_PUBSUB -> new PubSubHints(this, true);
          case PUBSUB -> new PubSubHints(this, false);
          case STREAM -> new StreamHints(this);
          case NONE -> HintCarrier.none();
        };
    interests = new Interests(hints);
    confirmation =
        options.replicas() == 0
            ? null
            : new ReplicaConfirmation(
                this,
                options.replicas(),
                options.replicaPatience(),
                EncodedRequest.fenceLifeMillis(context.maxLeaseTime().toMillis()));
  }

  void start() {
    watch.refresh();
  }

  /** Tells a node that was added later what is known. */
  void welcome() {
    if (areKnown()) {
      review(List.of(), true);
    }
  }

  /** Adds a node that the masters serve. */
  Share add(LockNode self, int node, NodeContext its) {
    if (!its.maxLeaseTime().equals(context.maxLeaseTime())
        || its.restartGuard() != context.restartGuard()
        || !its.keyPrefix().equals(context.keyPrefix())) {
      throw new IllegalArgumentException(
          self.name() + ": the nodes of one spread cluster must belong to one client");
    }
    Share share = new Share(self, spread, node, its.listener(), time.nanos());
    synchronized (lock) {
      shares.add(share);
    }
    return share;
  }

  /** Closes a node; the others stay. Returns whether it was the last one. */
  boolean close(Share share) {
    boolean done;
    synchronized (lock) {
      done = share.close(time.nanos());
    }
    if (done) {
      share.tellStatus();
    }
    return shares.stream().allMatch(Share::isClosed);
  }

  /**
   * Why this node's vote on the name in this slot must not count: its master votes for another node
   * already. Null if it may count.
   */
  @Nullable String secondVote(Share share, int slot) {
    Topology known = topology;
    int sharer = sharingAllowed ? -1 : share.sharer(slot, known);
    if (sharer < 0) {
      return null;
    }
    return "slot "
        + slot
        + " is on master "
        + masterOf(slot).orElse("?")
        + ", which has slot "
        + (slot - spread.first(share.node()) + spread.first(sharer))
        + " of the same name too: one master must not have two votes";
  }

  boolean isClosed() {
    return closed;
  }

  /** Whether the client has received a topology. */
  boolean areKnown() {
    return topology != null;
  }

  /** Whether this is still the link to a master, according to the current topology. */
  boolean include(MasterLink link) {
    return links.containsValue(link);
  }

  HintCarrier hints() {
    return hints;
  }

  Interests interests() {
    return interests;
  }

  /** Null if no replica must confirm a lease. */
  @Nullable ReplicaConfirmation confirmation() {
    return confirmation;
  }

  /**
   * The address of the master that serves a slot according to the current topology; empty if none
   * is known.
   */
  Optional<String> masterOf(int slot) {
    Topology known = topology;
    Topology.Server owner = known == null ? null : known.owner(slot);
    if (owner == null) {
      return Optional.empty();
    }
    MasterLink link = links.get(owner.key());
    return Optional.of((link == null ? owner.endpoints().get(0) : link.address()).toString());
  }

  /** The identity of the whole cluster; empty before the first master was probed. */
  Optional<NodeIdentity> identity() {
    return identity(links.values());
  }

  /** The identity of a node: that of the cluster, with what its masters report. */
  Optional<NodeIdentity> identity(Share share) {
    return identity(linksOf(share));
  }

  private Optional<NodeIdentity> identity(Collection<MasterLink> some) {
    Topology known = topology;
    if (known == null) {
      return Optional.empty();
    }
    List<NodeIdentity> masters = new ArrayList<>();
    for (MasterLink link : some) {
      NodeIdentity one = link.known();
      if (one != null) {
        masters.add(one);
      }
    }
    return ClusterIdentity.of(known.clusterId(), masters);
  }

  /** The same, after each master of the node was probed again. */
  CompletionStage<Optional<NodeIdentity>> probe(Share share) {
    CompletableFuture<?>[] probes =
        linksOf(share).stream()
            .map(link -> link.probeAgain().toCompletableFuture())
            .toArray(CompletableFuture<?>[]::new);
    return CompletableFuture.allOf(probes).thenApply(done -> identity(share));
  }

  /** The links to the masters of the slots of this node, as far as they are known. */
  private List<MasterLink> linksOf(Share share) {
    List<MasterLink> its = new ArrayList<>();
    Topology known = topology;
    if (known != null) {
      for (Topology.Server master : known.masters()) {
        MasterLink link = links.get(master.key());
        if (link != null && known.servesAny(master, share.firstSlot(), share.lastSlot())) {
          its.add(link);
        }
      }
    }
    return its;
  }

  void close() {
    List<MasterLink> all;
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
      all = new ArrayList<>(links.values());
    }
    hints.close();
    if (confirmation != null) {
      confirmation.close();
    }
    all.forEach(MasterLink::close);
    resources.release(watch.close().thenCompose(done -> side.close()));
  }

  /** Whether, after the close, the connections and their own threads have ended. */
  boolean areEnded() {
    return resources.areQuiet();
  }

  // The links.

  /** The link to the master of a slot; null if no master is known to serve it. */
  @Override
  public @Nullable MasterLink linkOf(int slot) {
    Topology known = topology;
    Topology.Server owner = known == null ? null : known.owner(slot);
    return owner == null || closed ? null : linkTo(owner);
  }

  /** The links to the masters that are known to serve slots of this node, in their order. */
  List<MasterLink> serving(Share share) {
    Topology known = topology;
    return known == null || closed
        ? List.of()
        : known.masters().stream()
            .filter(master -> known.servesAny(master, share.firstSlot(), share.lastSlot()))
            .map(this::linkTo)
            .toList();
  }

  /**
   * Returns the link to the server with this endpoint, and creates it if there is none: a
   * redirection may name a new master.
   */
  MasterLink linkTo(Address address) {
    return linkTo(serverAt(address));
  }

  private Topology.Server serverAt(Address address) {
    Topology known = topology;
    return known == null ? new Topology.Server("", List.of(address)) : known.serverAt(address);
  }

  private MasterLink linkTo(Topology.Server server) {
    MasterLink link = links.get(server.key());
    if (link != null) {
      return link;
    }
    boolean fresh;
    synchronized (lock) {
      link = links.get(server.key());
      fresh = link == null && !closed;
      if (link == null) { // If closed, it is never started and answers each request with an error.
        link = newLink(server.endpoints().get(0));
      }
      if (fresh) {
        links.put(server.key(), link);
      }
    }
    if (fresh) {
      link.start(linkContext);
    }
    return link;
  }

  private MasterLink newLink(Address address) {
    return new MasterLink(address, nodeUri(address), options.lettuce(), resources, time.nanos());
  }

  /** The seed with this endpoint; otherwise like the seed that reported the topology. */
  private NodeUri nodeUri(Address address) {
    for (NodeUri seed : seeds) {
      RedisURI uri = seed.toRedisUri();
      if (uri.getPort() == address.port() && address.host().equalsIgnoreCase(uri.getHost())) {
        return seed;
      }
    }
    RedisURI like = model.toRedisUri();
    like.setHost(address.host());
    like.setPort(address.port());
    return NodeUri.of(like);
  }

  /** A master reported that another master serves the slot. */
  void moved(int slot, Address to) {
    Topology.Server server = serverAt(to);
    Topology before = topology;
    if (quarantinePromoted && before != null && before.isReplica(server.nodeId())) {
      linkTo(server);
      bar(server); // Before any request finds it through the topology.
    }
    synchronized (lock) {
      Topology known = topology;
      Topology.Server owner = known == null ? null : known.owner(slot);
      if (known != null && (owner == null || !owner.isAt(to))) {
        topology = known.with(slot, known.serverAt(to));
      }
    }
    watch.refresh();
  }

  // The topology.

  @Override
  public List<MasterLink> connected() {
    return links.values().stream().filter(MasterLink::usable).toList();
  }

  @Override
  public List<NodeUri> others(int maxReplicas) {
    List<NodeUri> others = new ArrayList<>(seeds);
    Topology known = topology;
    if (known != null) {
      List<Topology.Server> replicas = new ArrayList<>(known.replicas());
      Collections.shuffle(replicas);
      replicas.stream()
          .limit(maxReplicas)
          .map(replica -> nodeUri(replica.endpoints().get(0)))
          .filter(uri -> others.stream().noneMatch(other -> other.name().equals(uri.name())))
          .forEach(others::add);
    }
    return others;
  }

  @Override
  public ThreadSharingClient client() {
    return side.client();
  }

  @Override
  public RedisURI dressed(NodeUri uri) {
    return side.dress(uri.toRedisUri());
  }

  @Override
  public boolean isOutdated(Topology next) {
    Topology known = topology;
    return known != null && next.isOlderThan(known);
  }

  @Override
  public boolean isSettled() {
    return links.values().stream().allMatch(MasterLink::usable);
  }

  @Override
  public void unknown(Throwable failure) {
    boolean first;
    synchronized (lock) {
      first = !troubled;
      troubled = true;
      if (topology == null) {
        String cause = "the cluster does not report its topology: " + Failures.message(failure);
        shares.forEach(share -> share.unknown(cause));
      }
    }
    if (first) {
      log.warn(
          "{}: the cluster does not report its topology: {}; retrying",
          name,
          Failures.message(failure));
    }
  }

  @Override
  public boolean adopt(Topology next, long sinceNanos, @Nullable NodeUri from) {
    List<MasterLink> gone = new ArrayList<>();
    List<MasterLink> made = new ArrayList<>();
    List<Topology.Server> promoted;
    boolean changed;
    synchronized (lock) {
      if (closed) {
        return false;
      }
      if (from != null && seeds.contains(from)) {
        model = from;
      }
      Topology before = topology;
      changed = before == null || !before.serves(next);
      promoted = before == null || !quarantinePromoted ? List.of() : next.promotedSince(before);
      promoted.forEach(this::bar); // Before any request finds it through the topology.
      topology = before == null ? next : next.after(before);
      troubled = false;
      next.masters().forEach(master -> keep(master, gone, made));
      promoted.forEach(this::bar); // The links that were just made.
      for (Map.Entry<String, MasterLink> entry : new ArrayList<>(links.entrySet())) {
        // Keep a link that a redirection created after this topology was requested.
        if (!next.hasMaster(entry.getKey()) && entry.getValue().createdNanos() - sinceNanos < 0) {
          links.remove(entry.getKey());
          gone.add(entry.getValue());
        }
      }
    }
    for (Topology.Server master : promoted) {
      log.info("{}: {} was promoted and does not vote for {}", name, master, quarantine());
      MasterLink barred = links.get(master.key());
      if (barred != null) { // Wake waiters when the quarantine is over.
        time.schedule(() -> onAllInvalidated(barred), quarantine().toNanos());
      }
    }
    if (!gone.isEmpty()) {
      log.info("{}: these servers are no longer masters, or have another address: {}", name, gone);
    }
    for (MasterLink link : gone) {
      link.close();
      if (confirmation != null) {
        confirmation.forget(link.address());
      }
    }
    made.forEach(link -> link.start(linkContext));
    if (changed) {
      sharedVotes.onTopology(next);
    }
    review(gone, changed);
    if (changed) {
      hints.onTopology();
    }
    return changed;
  }

  private Duration quarantine() {
    return context.maxLeaseTime().plusSeconds(2);
  }

  /** Keeps a promoted master, if there is a link to it, from granting for the longest lease. */
  private void bar(Topology.Server promoted) {
    MasterLink link = links.get(promoted.key());
    if (link != null) {
      link.barUntil(time.nanos() + quarantine().toNanos());
    }
  }

  /**
   * Keeps, makes or replaces the link to a master. A connection that works is kept, whatever the
   * name of the server is now. A link that has never worked tries the other endpoints in turn: a
   * name that the cluster announces may not resolve here. Called under the lock.
   */
  private void keep(Topology.Server master, List<MasterLink> gone, List<MasterLink> made) {
    List<Address> endpoints = master.endpoints();
    MasterLink link = links.get(master.key());
    if (link == null) { // A redirection may have named the server before its id was known.
      for (Address endpoint : endpoints) {
        link = links.remove(new Topology.Server("", List.of(endpoint)).key());
        if (link != null) {
          links.put(master.key(), link);
          return;
        }
      }
      link = newLink(endpoints.get(0));
    } else {
      int used = endpoints.indexOf(link.address());
      boolean hopeless = !link.hasWorked() && time.nanos() - link.createdNanos() > TRY_NANOS;
      if (link.usable() || (used >= 0 && !(hopeless && endpoints.size() > 1))) {
        return;
      }
      gone.add(link);
      MasterLink other = newLink(endpoints.get((used + 1) % endpoints.size()));
      other.barLike(link);
      link = other;
    }
    links.put(master.key(), link);
    made.add(link);
  }

  // The states of the nodes.

  /**
   * Computes the states of the nodes.
   *
   * @param lost the links whose earlier replies no longer count
   * @param changed whether the listeners are called even if the state is the same
   */
  private void review(List<MasterLink> lost, boolean changed) {
    NodeIdentity known = identity().orElse(null);
    // The nodes of one cluster are one cluster to the client: the first of them answers for all.
    String refusal = known == null || shares.isEmpty() ? null : shares.get(0).objectionTo(known);
    for (Share share : shares) {
      String objection = refusal == null ? sharedVotes.objection(share.node()) : refusal;
      boolean told;
      synchronized (lock) {
        boolean loses = !lost.isEmpty() && affects(lost, share);
        boolean other = assess(share, objection, loses);
        told = !closed && !share.isClosed() && (changed || loses || other);
      }
      if (told) {
        share.tellStatus();
      }
    }
    lost.stream()
        .filter(link -> !include(link))
        .forEach(link -> shares.forEach(share -> share.forget(link)));
  }

  /** Whether replies of these links may be votes of the node. */
  private boolean affects(List<MasterLink> some, Share share) {
    Topology known = topology;
    return some.stream()
        .anyMatch(
            link ->
                include(link)
                    ? share.uses(link, serverOf(link), known)
                    : share.hasVoteOf(link)); // No longer a master: only what it did counts.
  }

  /** The server of this link; null if it is not known as a master. */
  private Topology.@Nullable Server serverOf(MasterLink link) {
    Topology known = topology;
    if (known != null) {
      for (Topology.Server master : known.masters()) {
        if (links.get(master.key()) == link) {
          return master;
        }
      }
    }
    return null;
  }

  private boolean assess(Share share, @Nullable String objection, boolean lost) {
    List<ClusterStatus.Part> parts = new ArrayList<>();
    for (MasterLink link : linksOf(share)) {
      parts.add(new ClusterStatus.Part(link.name(), link.status()));
    }
    boolean before = share.waitsForOthers();
    boolean changed = share.assess(parts, objection, lost, time.nanos());
    if (share.waitsForOthers() && !before) {
      time.schedule(() -> review(List.of(), false), ClusterStatus.GRACE.toNanos());
    }
    return changed;
  }

  // Access for hint carriers and confirmations.

  @Override
  public ThreadSharingClient sideClient() {
    return side.client();
  }

  @Override
  public RedisURI uriOf(Address address) {
    return side.dress(nodeUri(address).toRedisUri());
  }

  @Override
  public void topologyDoubtful() {
    watch.refresh();
  }

  @Override
  public void mayBeFree(String lockKey) {
    ofKey(lockKey, share -> share.tellReleased(lockKey));
  }

  @Override
  public Time time() {
    return time;
  }

  private void ofKey(String key, Consumer<Share> then) {
    int node = spread.nodeOf(key);
    for (Share share : shares) {
      if (share.node() == node) {
        then.accept(share);
      }
    }
  }

  private void ofLink(MasterLink link, Consumer<Share> then) {
    List<MasterLink> one = List.of(link);
    for (Share share : shares) {
      if (affects(one, share)) {
        then.accept(share);
      }
    }
  }

  // Events of the links.

  @Override
  public void onStatus(LockNode node) {
    MasterLink link = (MasterLink) node;
    boolean lost;
    boolean usable = link.usable();
    synchronized (lock) {
      if (closed || !links.containsValue(link)) {
        return;
      }
      lost = link.takeLoss();
    }
    if (!usable) {
      watch.refresh();
    }
    review(lost ? List.of(link) : List.of(), usable);
    if (usable) {
      if (confirmation != null) {
        confirmation.prepare(link.address());
      }
      hints.onUsable(link);
    }
  }

  @Override
  public void onClock(LockNode node, long nodeMicros, long sentNanos, long answeredNanos) {
    ofLink((MasterLink) node, share -> share.tellClock(nodeMicros, sentNanos, answeredNanos));
  }

  @Override
  public void onInvalidated(LockNode node, String key) {
    if (key.endsWith(EncodedRequest.FREED)) {
      hints.onInvalidated((MasterLink) node, key);
    } else {
      ofKey(key, share -> share.tellInvalidated(key));
    }
  }

  @Override
  public void onAllInvalidated(LockNode node) {
    ofLink((MasterLink) node, Share::tellAllInvalidated);
  }
}
