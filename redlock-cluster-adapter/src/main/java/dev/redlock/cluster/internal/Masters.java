package dev.redlock.cluster.internal;

import dev.redlock.cluster.ClusterOptions;
import dev.redlock.internal.scripts.WireRequest;
import dev.redlock.lettuce.internal.Failures;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeListener;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.Time;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who the masters of one cluster are, each with its probed connection, and the state of the whole
 * that follows from theirs: what there is between start and close.
 *
 * <p>The whole votes while any master does. The number of its connection goes up whenever any
 * master's connection drops: pessimistic, and rare.
 */
final class Masters implements NodeListener, Medium {
  private static final Logger log = LoggerFactory.getLogger(Masters.class);

  private final LockNode self;
  private final String name;
  private final List<NodeUri> seeds;
  private final ClusterOptions options;
  private final NodeContext context;
  private final NodeContext linkContext;
  private final Time time;
  private final SharedResources resources;
  private final TopologyWatch watch;
  private final SideClient side;
  private final Notices notices;
  private final Interests interests;
  private final @Nullable ReplicaConfirmation confirmation;
  private final Object lock = new Object();

  /** Written under the lock, read by senders. */
  private final Map<Address, MasterLink> links = new ConcurrentHashMap<>();

  private volatile @Nullable Topology topology;
  private volatile NodeStatus status;
  private volatile boolean closed;

  // Guarded by lock.
  private final WholeStatus whole = new WholeStatus();
  private boolean troubled;
  private @Nullable String objection;

  Masters(
      LockNode self,
      String name,
      List<NodeUri> seeds,
      ClusterOptions options,
      NodeContext context) {
    this.self = self;
    this.name = name;
    this.seeds = seeds;
    this.options = options;
    this.context = context;
    time = context.time();
    status = new NodeStatus(State.CONNECTING, 1, time.nanos(), 0, "not connected yet");
    linkContext =
        new NodeContext(
            context.maxLeaseTime(), context.restartGuard(), context.keyPrefix(), time, this);
    resources = new SharedResources(options.lettuce().clientResources());
    ClientResources threads = resources.acquire();
    watch =
        new TopologyWatch(
            seeds,
            options.lettuce(),
            options.refreshPeriod(),
            threads,
            time,
            this::adopt,
            this::topologyUnknown);
    side = new SideClient(threads, options.lettuce());
    notices =
        switch (options.notices()) {
          case SHARDED_PUBSUB -> new PubSubNotices(this, true);
          case PUBSUB -> new PubSubNotices(this, false);
          case STREAM -> new StreamNotices(this);
          case NONE -> Notices.none();
        };
    interests = new Interests(notices);
    confirmation =
        options.replicas() == 0
            ? null
            : new ReplicaConfirmation(
                this,
                options.replicas(),
                options.replicaPatience(),
                WireRequest.fenceLifeMillis(context.maxLeaseTime()));
  }

  void start() {
    watch.refresh();
  }

  NodeStatus status() {
    return status;
  }

  boolean isClosed() {
    return closed;
  }

  /** Whether the cluster has told who serves what. */
  boolean areKnown() {
    return topology != null;
  }

  /** Whether it still is the link to a master, as far as is known. */
  boolean include(MasterLink link) {
    return links.get(link.address()) == link;
  }

  Notices notices() {
    return notices;
  }

  Interests interests() {
    return interests;
  }

  /** Null if no replica has to confirm anything. */
  @Nullable ReplicaConfirmation confirmation() {
    return confirmation;
  }

  /** The address of the master that serves a slot, as far as is known. */
  Optional<String> masterOf(int slot) {
    Topology known = topology;
    Topology.Master owner = known == null ? null : known.owner(slot);
    return owner == null ? Optional.empty() : Optional.of(owner.address().toString());
  }

  /** The cluster as a whole; empty before any master was looked at. */
  Optional<NodeIdentity> identity() {
    Topology known = topology;
    if (known == null) {
      return Optional.empty();
    }
    List<NodeIdentity> masters = new ArrayList<>();
    for (MasterLink link : links.values()) {
      NodeIdentity one = link.known();
      if (one != null) {
        masters.add(one);
      }
    }
    return WholeIdentity.of(known.clusterId(), masters);
  }

  /** The same, after each master was looked at once more. */
  CompletionStage<Optional<NodeIdentity>> look() {
    CompletableFuture<?>[] looks =
        links.values().stream()
            .map(link -> link.lookAgain().toCompletableFuture())
            .toArray(CompletableFuture<?>[]::new);
    return CompletableFuture.allOf(looks).thenApply(done -> identity());
  }

  void close() {
    List<MasterLink> all;
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
      all = new ArrayList<>(links.values());
      status = new NodeStatus(State.CONNECTING, status.connection() + 1, time.nanos(), 0, "closed");
    }
    tell(listener -> listener.onStatus(self));
    notices.close();
    if (confirmation != null) {
      confirmation.close();
    }
    all.forEach(MasterLink::close);
    var unused = watch.close().thenCompose(done -> side.close()).thenRun(resources::release);
  }

  private void tell(Consumer<NodeListener> news) {
    try {
      news.accept(context.listener());
    } catch (RuntimeException | Error e) {
      log.error("{}: the listener failed", name, e);
    }
  }

  // The links.

  /** The link to the master of a slot; null if nobody is known to serve it. */
  @Override
  public @Nullable MasterLink linkOf(int slot) {
    Topology known = topology;
    Topology.Master owner = known == null ? null : known.owner(slot);
    return owner == null || closed ? null : linkTo(owner.address());
  }

  /** The link to this server, made now if there is none: a redirection may name a new master. */
  MasterLink linkTo(Address address) {
    MasterLink link = links.get(address);
    if (link != null) {
      return link;
    }
    boolean fresh;
    synchronized (lock) {
      link = links.get(address);
      fresh = link == null && !closed;
      if (link == null) {
        link = newLink(address); // If closed it is never started, and refuses everything.
      }
      if (fresh) {
        links.put(address, link);
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

  private NodeUri nodeUri(Address address) {
    RedisURI like = seeds.get(0).toRedisUri();
    like.setHost(address.host());
    like.setPort(address.port());
    return NodeUri.of(like);
  }

  /** A master says that a slot is elsewhere. */
  void moved(int slot, Address to) {
    synchronized (lock) {
      Topology known = topology;
      Topology.Master owner = known == null ? null : known.owner(slot);
      if (known != null && (owner == null || !owner.address().equals(to))) {
        topology = known.with(slot, to);
      }
    }
    watch.refresh();
  }

  // The topology.

  private void topologyUnknown(Throwable failure) {
    boolean first;
    synchronized (lock) {
      first = !troubled;
      troubled = true;
      if (topology == null && !closed) {
        status =
            new NodeStatus(
                State.CONNECTING,
                status.connection(),
                status.sinceNanos(),
                0,
                "the cluster cannot be asked who serves what: " + Failures.message(failure));
      }
    }
    if (first) {
      log.warn(
          "{}: cannot be asked who serves what: {}; trying again", name, Failures.message(failure));
    }
  }

  private boolean adopt(Topology next, long sinceNanos) {
    if (next.masters().isEmpty()) {
      topologyUnknown(new IllegalStateException("no server of it has slots"));
      return false;
    }
    List<MasterLink> gone = new ArrayList<>();
    List<MasterLink> made = new ArrayList<>();
    boolean changed;
    synchronized (lock) {
      if (closed) {
        return false;
      }
      Topology before = topology;
      changed = before == null || !before.serves(next);
      topology = before == null ? next : next.after(before);
      troubled = false;
      for (MasterLink link : new ArrayList<>(links.values())) {
        // Whom a redirection named after this was asked for is to stay.
        if (!next.hasMasterAt(link.address()) && link.createdNanos() - sinceNanos < 0) {
          links.remove(link.address());
          gone.add(link);
        }
      }
      for (Topology.Master master : next.masters()) {
        MasterLink link = links.get(master.address());
        if (link == null) {
          link = newLink(master.address());
          links.put(master.address(), link);
          made.add(link);
        }
        if (options.quarantinePromoted() && before != null && before.isReplica(master.nodeId())) {
          Duration guard = context.maxLeaseTime().plusSeconds(2);
          link.barUntil(time.nanos() + guard.toNanos());
          MasterLink barred = link; // Whoever waits may ask when it is over.
          time.schedule(() -> onAllInvalidated(barred), guard.toNanos());
          log.info("{}: master {} was promoted, and does not vote for {}", name, link, guard);
        }
      }
    }
    if (!gone.isEmpty()) {
      log.info("{}: no longer masters: {}", name, gone);
    }
    for (MasterLink link : gone) {
      link.close();
      if (confirmation != null) {
        confirmation.forget(link.address());
      }
    }
    made.forEach(link -> link.start(linkContext));
    review(!gone.isEmpty(), changed);
    if (changed) {
      notices.onTopology();
    }
    return changed;
  }

  // The state of the whole.

  /**
   * Works out the state of the whole.
   *
   * @param lost whether earlier answers no longer count
   * @param news whether it is told even if the state is the same
   */
  private void review(boolean lost, boolean news) {
    NodeIdentity known = identity().orElse(null);
    String refusal = known == null ? null : objectionTo(known);
    boolean tell;
    synchronized (lock) {
      if (closed) {
        return;
      }
      objection = refusal;
      NodeStatus next = assess(status.connection() + (lost ? 1 : 0));
      tell = news || lost || !next.equals(status);
      status = next;
    }
    if (tell) {
      tell(listener -> listener.onStatus(self));
    }
  }

  private @Nullable String objectionTo(NodeIdentity known) {
    try {
      return context.listener().objection(self, known);
    } catch (RuntimeException | Error e) {
      log.error("{}: the listener failed", name, e);
      return null;
    }
  }

  private NodeStatus assess(long number) {
    Topology known = topology;
    List<WholeStatus.Part> parts = new ArrayList<>();
    if (known != null) {
      for (Topology.Master master : known.masters()) {
        MasterLink link = links.get(master.address());
        if (link != null) {
          parts.add(new WholeStatus.Part(link.name(), link.status()));
        }
      }
    }
    boolean before = whole.waitsForOthers();
    NodeStatus next = whole.next(status, parts, objection, number, time.nanos());
    if (whole.waitsForOthers() && !before) {
      time.schedule(() -> review(false, false), WholeStatus.GRACE.toNanos());
    }
    return next;
  }

  // What notices and confirmations need.

  @Override
  public RedisClient sideClient() {
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
    tell(listener -> listener.onNotice(self, lockKey));
  }

  @Override
  public Time time() {
    return time;
  }

  // What links tell.

  @Override
  public void onStatus(LockNode node) {
    MasterLink link = (MasterLink) node;
    boolean lost;
    boolean usable = link.usable();
    synchronized (lock) {
      if (closed || links.get(link.address()) != link) {
        return;
      }
      lost = link.takeLoss();
    }
    if (!usable) {
      watch.refresh();
    }
    review(lost, usable);
    if (usable) {
      if (confirmation != null) {
        confirmation.prepare(link.address());
      }
      notices.onUsable(link);
    }
  }

  @Override
  public void onClock(LockNode node, long nodeMicros, long sentNanos, long answeredNanos) {
    tell(listener -> listener.onClock(self, nodeMicros, sentNanos, answeredNanos));
  }

  @Override
  public void onInvalidated(LockNode node, String key) {
    if (key.endsWith(WireRequest.FREED)) {
      notices.onPush((MasterLink) node, key);
    } else {
      tell(listener -> listener.onInvalidated(self, key));
    }
  }

  @Override
  public void onAllInvalidated(LockNode node) {
    tell(listener -> listener.onAllInvalidated(self));
  }
}
