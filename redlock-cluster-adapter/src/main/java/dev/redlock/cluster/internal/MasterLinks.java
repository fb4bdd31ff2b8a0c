package dev.redlock.cluster.internal;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which master serves which slot, and the link to each master: owns the current topology and the
 * links. They change together, under the monitor of this object, and the topology becomes visible
 * last: otherwise a request could reach a promoted master that is not yet kept from granting.
 * Senders take no lock; methods that compare the topology with the links take it.
 */
final class MasterLinks {
  /** How long an endpoint that has never worked is tried while the server has others. */
  private static final long TRY_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  private final Seeds seeds;
  private final LettuceOptions options;
  private final SharedResources resources;
  private final LockNode.Context context;
  private final Time time;
  private final Duration quarantine;

  /**
   * The links by {@link Topology.Server#key()}: a server that changes its name or address keeps its
   * connection.
   */
  private final Map<String, MasterLink> links = new ConcurrentHashMap<>();

  /**
   * Until when a promoted master must not grant, by its id: its link may end before, and come back,
   * if a server that knows less reports the topology. Guarded by this.
   */
  private final Map<String, Long> bars = new HashMap<>();

  private volatile @Nullable Topology topology;
  private volatile boolean closed;

  /**
   * What a new topology has changed.
   *
   * @param served whether another server serves some slot
   * @param promoted the masters that were replicas, if such masters are quarantined
   * @param gone the links that the topology ends; to be closed
   * @param made the links to new masters or endpoints; to be started
   */
  record Change(
      boolean served,
      List<Topology.Server> promoted,
      List<MasterLink> gone,
      List<MasterLink> made) {}

  /**
   * @param context of the links; its listener hears from them
   * @param quarantine how long a promoted master does not grant; zero if it may grant at once
   */
  MasterLinks(
      Seeds seeds,
      LettuceOptions options,
      SharedResources resources,
      LockNode.Context context,
      Duration quarantine) {
    this.seeds = seeds;
    this.options = options;
    this.resources = resources;
    this.context = context;
    time = context.time();
    this.quarantine = quarantine;
  }

  // What is known.

  /** Null until the client has received a topology. */
  @Nullable Topology topology() {
    return topology;
  }

  boolean isClosed() {
    return closed;
  }

  /**
   * Whether this is still the link to a master, according to the current topology. Under the
   * monitor: a link that gets another key is absent for a moment, and an event of it that came in
   * that moment would be lost, so that votes from before a drop would count.
   */
  synchronized boolean include(MasterLink link) {
    return links.containsValue(link);
  }

  Collection<MasterLink> all() {
    return links.values();
  }

  /** The server of this link; null if it is not known as a master. */
  Topology.@Nullable Server serverOf(MasterLink link) {
    return masters().stream()
        .filter(master -> links.get(master.key()) == link)
        .findFirst()
        .orElse(null);
  }

  private Collection<Topology.Server> masters() {
    Topology known = topology;
    return known == null ? List.of() : known.masters();
  }

  /**
   * The address of the master that serves a slot according to the current topology; empty if none
   * is known.
   */
  Optional<String> addressOf(int slot) {
    Topology known = topology;
    Topology.Server owner = known == null ? null : known.owner(slot);
    if (owner == null) {
      return Optional.empty();
    }
    MasterLink link = links.get(owner.key());
    return Optional.of((link == null ? owner.endpoints().get(0) : link.address()).toString());
  }

  /** The identity of the cluster, with what these masters report; empty before one was probed. */
  Optional<NodeIdentity> identity(Collection<MasterLink> some) {
    Topology known = topology;
    return known == null
        ? Optional.empty()
        : ClusterIdentity.of(
            known.clusterId(),
            some.stream().map(MasterLink::identity).flatMap(Optional::stream).toList());
  }

  // The links.

  /** The link to the master of a slot; null if no master is known to serve it. */
  @Nullable MasterLink linkOf(int slot) {
    Topology known = topology;
    Topology.Server owner = known == null ? null : known.owner(slot);
    return owner == null || closed ? null : linkTo(owner);
  }

  /** The links to the masters of these slots, in their order; makes those that are missing. */
  List<MasterLink> serving(int firstSlot, int lastSlot) {
    return closed ? List.of() : mastersOf(firstSlot, lastSlot).map(this::linkTo).toList();
  }

  /** The links that exist to the masters of these slots; never those of half a change. */
  synchronized List<MasterLink> existing(int firstSlot, int lastSlot) {
    return mastersOf(firstSlot, lastSlot)
        .map(master -> links.get(master.key()))
        .filter(Objects::nonNull)
        .toList();
  }

  private Stream<Topology.Server> mastersOf(int firstSlot, int lastSlot) {
    Topology known = topology;
    return known == null
        ? Stream.of()
        : known.masters().stream().filter(master -> known.servesAny(master, firstSlot, lastSlot));
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
    synchronized (this) {
      link = links.get(server.key());
      fresh = link == null && !closed;
      if (link == null) { // If closed, it is never started and answers each request with an error.
        link = newLink(server, server.endpoints().get(0));
      }
      if (fresh) {
        links.put(server.key(), link);
      }
    }
    if (fresh) {
      link.start(context);
    }
    return link;
  }

  /** Under the monitor. A new link to a server that is kept from granting is kept from it, too. */
  private MasterLink newLink(Topology.Server server, Address address) {
    long now = time.nanos();
    MasterLink link = new MasterLink(address, seeds.uriOf(address), options, resources, now);
    link.barUntil(bars.getOrDefault(server.nodeId(), 0L));
    return link;
  }

  // Changes.

  /**
   * A master reported that another master serves the slot. A server that is known only by this
   * address may be a replica that the cluster did not list, because it had failed. Whether it is
   * one, the next topology tells.
   */
  void moved(int slot, Address to) {
    Topology.Server server = serverAt(to);
    Topology before = topology;
    boolean mayBePromoted =
        before != null && (server.nodeId().isEmpty() || before.isReplica(server.nodeId()));
    boolean barred = mayBePromoted && !quarantine.isZero();
    if (barred) {
      linkTo(server);
    }
    synchronized (this) {
      if (barred) {
        bar(server); // Before any request finds it through the topology.
      }
      Topology known = topology;
      Topology.Server owner = known == null ? null : known.owner(slot);
      if (known != null && (owner == null || !owner.isAt(to))) {
        topology = known.with(slot, known.serverAt(to));
      }
    }
  }

  /** Whether this topology is older than the current one. */
  boolean isOutdated(Topology next) {
    Topology known = topology;
    return known != null && next.isOlderThan(known);
  }

  /**
   * Adopts a topology. The caller closes and starts the links that have changed.
   *
   * @param sinceNanos when the topology was requested
   * @param from the seed that reported it; null if it was no seed
   * @return null if this is closed
   */
  synchronized @Nullable Change adopt(Topology next, long sinceNanos, @Nullable NodeUri from) {
    if (closed) {
      return null;
    }
    seeds.onTopology(from);
    Topology before = topology;
    boolean served = before == null || !before.serves(next);
    List<Topology.Server> promoted =
        before == null || quarantine.isZero() ? List.of() : next.promotedSince(before);
    List<MasterLink> gone = new ArrayList<>();
    List<MasterLink> made = new ArrayList<>();
    bars.values().removeIf(until -> until - time.nanos() <= 0);
    promoted.forEach(this::bar); // Before any request finds them through the topology.
    next.masters().forEach(master -> keep(master, gone, made));
    topology = before == null ? next : next.after(before);
    for (Map.Entry<String, MasterLink> entry : new ArrayList<>(links.entrySet())) {
      // Keep a link that a redirection created after this topology was requested.
      if (!next.hasMaster(entry.getKey()) && entry.getValue().createdNanos() - sinceNanos < 0) {
        links.remove(entry.getKey());
        gone.add(entry.getValue());
      }
    }
    return new Change(served, promoted, gone, made);
  }

  /** Keeps a promoted master from granting for the quarantine. Under the monitor. */
  private void bar(Topology.Server promoted) {
    long until = time.nanos() + quarantine.toNanos();
    if (!promoted.nodeId().isEmpty()) {
      bars.put(promoted.nodeId(), until);
    }
    MasterLink link = linkOrNull(promoted);
    if (link != null) {
      link.barUntil(until);
    }
  }

  /** The link to the server, if there is one. */
  @Nullable MasterLink linkOrNull(Topology.Server server) {
    return links.get(server.key());
  }

  /**
   * Keeps, makes or replaces the link to a master. A connection that works is kept, whatever the
   * name of the server is now. A link that has never worked tries the other endpoints in turn: a
   * name that the cluster announces may not resolve here.
   */
  private void keep(Topology.Server master, List<MasterLink> gone, List<MasterLink> made) {
    List<Address> endpoints = master.endpoints();
    MasterLink link = links.get(master.key());
    if (link == null) { // A redirection may have named the server before its id was known.
      for (Address endpoint : endpoints) {
        link = links.remove(new Topology.Server("", List.of(endpoint)).key());
        if (link != null) {
          link.barUntil(bars.getOrDefault(master.nodeId(), 0L)); // It was in doubt until now.
          links.put(master.key(), link);
          return;
        }
      }
      link = newLink(master, endpoints.get(0));
    } else {
      int used = endpoints.indexOf(link.address());
      boolean hopeless = !link.hasWorked() && time.nanos() - link.createdNanos() > TRY_NANOS;
      if (link.usable() || (used >= 0 && !(hopeless && endpoints.size() > 1))) {
        return;
      }
      gone.add(link);
      link = newLink(master, endpoints.get((used + 1) % endpoints.size()));
    }
    links.put(master.key(), link);
    made.add(link);
  }

  /** Makes no more links; returns those that the caller closes, or null if it was closed before. */
  synchronized @Nullable List<MasterLink> close() {
    if (closed) {
      return null;
    }
    closed = true;
    return List.copyOf(links.values());
  }
}
