package dev.redlock.cluster.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.cluster.ClusterOptions;
import dev.redlock.internal.scripts.WireRequest;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeListener;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.ReplyCode;
import dev.redlock.spi.ReplyHandler;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The masters of one cluster, each with its probed connection, as one node.
 *
 * <p>The node votes while any master does. A vote counts only if its own master's connection has
 * not dropped since and that master votes: what the state of the whole cannot tell is said by the
 * number of the connection that the answer carries, which is 0 for a vote that must not count. The
 * number of the whole goes up whenever any master's connection drops: pessimistic, and rare.
 */
public final class Cluster {
  private static final Logger log = LoggerFactory.getLogger(Cluster.class);

  /** By then no vote that a quarantined master may have forgotten can be counted by anybody. */
  private static final long QUARANTINE_COUNTS_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final LockNode self;
  private final String name;
  private final List<NodeUri> seeds;
  private final ClusterOptions options;
  private final SharedResources resources;
  private final Object lock = new Object();

  /** Written under the lock, read by senders. */
  private final Map<Address, MasterLink> links = new ConcurrentHashMap<>();

  private volatile @Nullable Running running;
  private volatile @Nullable Topology topology;
  private volatile NodeStatus status = new NodeStatus(State.CONNECTING, 1, 0, 0, "not started");
  private volatile boolean closed;

  public Cluster(LockNode self, String name, List<NodeUri> seeds, ClusterOptions options) {
    this.self = self;
    this.name = name;
    this.seeds = seeds;
    this.options = options;
    this.resources = new SharedResources(options.lettuce().clientResources());
  }

  public String name() {
    return name;
  }

  public NodeStatus status() {
    return status;
  }

  /** The address of the master that serves a slot, as far as is known. */
  public Optional<String> masterOf(int slot) {
    Topology known = topology;
    Topology.Master owner = known == null ? null : known.owner(slot);
    return owner == null ? Optional.empty() : Optional.of(owner.address().toString());
  }

  public void start(NodeContext context) {
    if (context.restartGuard() == RestartGuard.MARKER) {
      throw new IllegalArgumentException(
          name
              + ": RestartGuard.marker() needs a marker on every master, which a cluster cannot"
              + " keep: slots move, and keys with them; use RestartGuard.uptime()");
    }
    Running started;
    synchronized (lock) {
      if (running != null || closed) {
        throw new IllegalStateException(name + " was started or closed before");
      }
      started = new Running(context);
      running = started;
      status = new NodeStatus(State.CONNECTING, 1, context.time().nanos(), 0, "not connected yet");
    }
    started.watch.refresh();
  }

  /** Sends the request to where its names are, or answers why not. */
  public void send(LockRequest request, ReplyHandler handler) {
    Running r = running;
    if (r == null || closed || topology == null) {
      refuse(handler);
      return;
    }
    ClusterWire wire;
    try {
      wire = ClusterWire.of(request, r.fenceLifeMillis, r.notices.command());
    } catch (RuntimeException e) {
      deliver(failure(NodeError.Kind.UNEXPECTED, "request cannot be encoded: " + e), handler);
      return;
    }
    String complaint = wire.slot() == Slots.NONE ? Slots.complaint(request.keys()) : null;
    if (complaint != null) {
      deliver(failure(NodeError.Kind.CLUSTER, complaint), handler);
      return;
    }
    if (request instanceof LockRequest.Release release) {
      for (int i = 0; i < request.keys().size(); i++) {
        r.notices.releasing(request.keys().lockKey(i), release.token());
      }
    }
    new Attempt(this, request, wire, handler).begin();
  }

  public void waiting(LockKeys keys) {
    Running r = running;
    if (r != null) {
      r.interests.waiting(keys);
    }
  }

  public void idle(LockKeys keys) {
    Running r = running;
    if (r != null) {
      r.interests.idle(keys);
    }
  }

  /** The cluster as a whole; empty before any master was looked at. */
  public Optional<NodeIdentity> identity() {
    Topology known = topology;
    NodeIdentity some = null;
    String policy = "noeviction";
    boolean appendOnly = true;
    for (MasterLink link : links.values()) {
      NodeIdentity one = link.known();
      if (one != null) {
        some = one;
        policy = one.maxmemoryPolicy().equals("noeviction") ? policy : one.maxmemoryPolicy();
        appendOnly &= one.appendOnly();
      }
    }
    if (known == null || some == null) {
      return Optional.empty();
    }
    // Replicas are what a cluster is for: no finding.
    return Optional.of(
        new NodeIdentity(
            known.clusterId(),
            some.product(),
            some.version(),
            some.uptimeSeconds(),
            "cluster",
            true,
            policy,
            "",
            0,
            appendOnly));
  }

  public void close() {
    Running r;
    List<MasterLink> all;
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
      r = running;
      all = new ArrayList<>(links.values());
      status = new NodeStatus(State.CONNECTING, status.connection() + 1, now(r), 0, "closed");
    }
    if (r == null) {
      return;
    }
    tell(r, listener -> listener.onStatus(self));
    r.notices.close();
    if (r.confirmation != null) {
      r.confirmation.close();
    }
    all.forEach(MasterLink::close);
    var unused = r.watch.close().thenCompose(done -> r.side.close()).thenRun(resources::release);
  }

  private static long now(@Nullable Running r) {
    return r == null ? 0 : r.time.nanos();
  }

  // What an attempt asks.

  Time time() {
    return requireNonNull(running).time;
  }

  long redirectPatienceNanos() {
    return options.redirectPatience().toNanos();
  }

  /** The link to the master of a slot; null if nobody is known to serve it. */
  @Nullable MasterLink linkOf(int slot) {
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
      link.start(requireNonNull(running).linkContext);
    }
    return link;
  }

  private MasterLink newLink(Address address) {
    return new MasterLink(address, uriOf(address), options.lettuce(), resources, time().nanos());
  }

  private NodeUri uriOf(Address address) {
    RedisURI like = seeds.get(0).toRedisUri();
    like.setHost(address.host());
    like.setPort(address.port());
    return NodeUri.of(like);
  }

  /** Something suggests that slots are elsewhere than we think. */
  void topologyDoubtful() {
    Running r = running;
    if (r != null) {
      r.watch.refresh();
    }
  }

  /** A master says that a slot is elsewhere. */
  void moved(int slot, Address to) {
    Running r = running;
    synchronized (lock) {
      Topology known = topology;
      Topology.Master owner = known == null ? null : known.owner(slot);
      if (known != null && (owner == null || !owner.address().equals(to))) {
        topology = known.with(slot, to);
      }
    }
    if (r != null) {
      r.watch.refresh();
    }
  }

  /** Why this master may not be asked to grant, though others may; null if it may. */
  @Nullable String mayNotGrant(MasterLink link) {
    NodeStatus its = link.status();
    if (its.state() == State.QUARANTINED && status.state() == State.VOTING) {
      return "master " + link + " does not vote" + left(its.untilNanos()) + ": " + its.cause();
    }
    long barred = link.barredForNanos(time().nanos());
    if (barred > 0) {
      return "master "
          + link
          + " was promoted, and does not vote for another "
          + TimeUnit.NANOSECONDS.toMillis(barred)
          + " ms";
    }
    return null;
  }

  private String left(long untilNanos) {
    return untilNanos == 0
        ? ""
        : " for another "
            + Math.max(0, TimeUnit.NANOSECONDS.toMillis(untilNanos - time().nanos()))
            + " ms";
  }

  /** A definite answer: passes it on, as a vote only if its master's connection still stands. */
  void answered(
      LockRequest request, ClusterWire wire, MasterLink link, NodeReply reply, ReplyHandler to) {
    Running r = requireNonNull(running);
    boolean confirm =
        r.confirmation != null
            && (reply.code() == ReplyCode.GRANTED
                || reply.code() == ReplyCode.EXTENDED
                || reply.code() == ReplyCode.REPAIRED);
    if (confirm) {
      requireNonNull(r.confirmation)
          .confirm(
              link.address(),
              request.keys(),
              complaint ->
                  deliver(
                      complaint == null
                          ? asVote(request, link, reply)
                          : failure(NodeError.Kind.REPLICAS, complaint),
                      to));
      return;
    }
    boolean refused = reply.code() == ReplyCode.HELD && request instanceof LockRequest.Acquire;
    boolean waited = refused && r.interests.isWaitedFor(request.keys());
    deliver(asVote(request, link, reply), to);
    if (refused) {
      r.interests.refused(request.keys(), wire.slot(), reply.nodeMicros(), waited);
    }
  }

  private NodeReply asVote(LockRequest request, MasterLink link, NodeReply reply) {
    long number = status.connection(); // Before the link's: that one's drop raises this one.
    boolean vote = request instanceof LockRequest.Acquire || request instanceof LockRequest.Extend;
    boolean counts = !vote || counts(link.status(), reply);
    return new NodeReply(
        reply.code(),
        counts ? number : 0,
        reply.nodeMicros(),
        reply.fence(),
        reply.remainingMillis(),
        reply.mark(),
        reply.othersInLine(),
        null);
  }

  private boolean counts(NodeStatus link, NodeReply reply) {
    if (link.connection() != reply.connection()) {
      return false;
    }
    return switch (link.state()) {
      case VOTING -> true;
      case QUARANTINED ->
          // While none of them votes the state of the whole tells the rest.
          status.state() == State.QUARANTINED
              || ((reply.code() == ReplyCode.EXTENDED || reply.code() == ReplyCode.REPAIRED)
                  && time().nanos() - link.sinceNanos() >= QUARANTINE_COUNTS_NANOS);
      default -> false;
    };
  }

  /** No definite answer of this master. */
  void failed(MasterLink link, NodeError error, ReplyHandler handler) {
    boolean lost =
        error.kind() == NodeError.Kind.DISCONNECTED || error.kind() == NodeError.Kind.CLOSED;
    if (!lost) {
      deliver(failure(error.kind(), name + ": " + error.message()), handler);
    } else if (closed || links.get(link.address()) == link) {
      // Whoever waits for a new connection to say it again is told when there is one.
      deliver(
          failure(NodeError.Kind.DISCONNECTED, "master " + link + ": " + error.message()), handler);
    } else {
      // It is no master any more: nothing to wait for, another has its slots.
      deliver(failure(NodeError.Kind.CLUSTER, "master " + link + ": " + error.message()), handler);
    }
  }

  /** Not sent: there is no connection at all. */
  void refuse(ReplyHandler handler) {
    deliver(
        closed
            ? failure(NodeError.Kind.CLOSED, "the client is closed")
            : failure(NodeError.Kind.DISCONNECTED, status.cause()),
        handler);
  }

  /** Not sent: there is no connection to this master. */
  void refuse(ReplyHandler handler, MasterLink link) {
    if (closed || !status.usable()) {
      refuse(handler);
    } else {
      deliver(
          failure(NodeError.Kind.CLUSTER, "master " + link + ": " + link.status().cause()),
          handler);
    }
  }

  private NodeReply failure(NodeError.Kind kind, String message) {
    return NodeReply.failed(status.connection(), kind, message);
  }

  void deliver(NodeReply reply, ReplyHandler handler) {
    try {
      handler.onReply(reply);
    } catch (RuntimeException | Error e) {
      log.error("{}: a reply handler failed", name, e);
    }
  }

  private void tell(Running r, Consumer<NodeListener> news) {
    try {
      news.accept(r.context.listener());
    } catch (RuntimeException | Error e) {
      log.error("{}: the listener failed", name, e);
    }
  }

  /** What there is between start and close. */
  private final class Running implements NodeListener, Medium {
    private final NodeContext context;
    private final Time time;
    private final long fenceLifeMillis;
    private final NodeContext linkContext;
    private final TopologyWatch watch;
    private final SideClient side;
    private final Notices notices;
    private final Interests interests;
    private final @Nullable ReplicaConfirmation confirmation;

    // Guarded by lock.
    private final WholeStatus whole = new WholeStatus();
    private boolean troubled;
    private @Nullable String objection;

    Running(NodeContext context) {
      this.context = context;
      time = context.time();
      fenceLifeMillis = WireRequest.fenceLifeMillis(context.maxLeaseTime());
      linkContext =
          new NodeContext(
              context.maxLeaseTime(), context.restartGuard(), context.keyPrefix(), time, this);
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
                  this, options.replicas(), options.replicaPatience(), fenceLifeMillis);
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
                  "the cluster cannot be asked who serves what: " + Causes.of(failure));
        }
      }
      if (first) {
        log.warn("{}: cannot be asked who serves what: {}; trying again", name, Causes.of(failure));
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
        topology = next;
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
        tell(this, listener -> listener.onStatus(self));
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
      return side.dress(Cluster.this.uriOf(address).toRedisUri());
    }

    @Override
    public @Nullable MasterLink linkOf(int slot) {
      return Cluster.this.linkOf(slot);
    }

    @Override
    public void topologyDoubtful() {
      watch.refresh();
    }

    @Override
    public void mayBeFree(String lockKey) {
      tell(this, listener -> listener.onNotice(self, lockKey));
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
      tell(this, listener -> listener.onClock(self, nodeMicros, sentNanos, answeredNanos));
    }

    @Override
    public void onInvalidated(LockNode node, String key) {
      if (key.endsWith(WireRequest.FREED)) {
        notices.onPush((MasterLink) node, key);
      } else {
        tell(this, listener -> listener.onInvalidated(self, key));
      }
    }

    @Override
    public void onAllInvalidated(LockNode node) {
      tell(this, listener -> listener.onAllInvalidated(self));
    }
  }
}
