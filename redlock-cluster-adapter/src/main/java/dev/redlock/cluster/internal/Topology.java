package dev.redlock.cluster.internal;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Which master serves which slot, as one server of the cluster reported it. Immutable. */
final class Topology {
  /**
   * A server.
   *
   * @param nodeId its id in the cluster, which stays the same when its address or name changes;
   *     empty for a server that only a redirection named
   * @param endpoints where clients reach it: the endpoint that the cluster prefers, then the others
   */
  record Server(String nodeId, List<Address> endpoints) {
    Server {
      endpoints = List.copyOf(endpoints);
    }

    /** Identifies the server among all of its cluster. */
    String key() {
      return nodeId.isEmpty() ? "@" + endpoints.get(0) : nodeId;
    }

    boolean isAt(Address address) {
      return endpoints.contains(address);
    }
  }

  private final @Nullable Server[] owners;
  private final Map<String, Server> masters;
  private final Map<String, Server> replicas;
  private final Set<String> replicaIds;
  private final String clusterId;
  private final long epoch;

  private Topology(
      @Nullable Server[] owners,
      Map<String, Server> masters,
      Map<String, Server> replicas,
      Set<String> replicaIds,
      String clusterId,
      long epoch) {
    this.owners = owners;
    this.masters = masters;
    this.replicas = replicas;
    this.replicaIds = replicaIds;
    this.clusterId = clusterId;
    this.epoch = epoch;
  }

  /**
   * Returns the topology of these slots.
   *
   * @param owners the first slot of each range, the last one, and its master
   * @param replicas the replicas that can be reached
   * @param roles what the server knows of all nodes, also those that have failed
   */
  static Topology of(List<Range> owners, Collection<Server> replicas, Roles roles) {
    @Nullable Server[] slots = new Server[Slots.COUNT];
    Map<String, Server> masters = new LinkedHashMap<>();
    Set<String> ids = new HashSet<>(roles.all());
    for (Range range : owners) {
      Server master = masters.computeIfAbsent(range.master().key(), key -> range.master());
      ids.add(master.nodeId());
      for (int slot = range.first(); slot <= range.last(); slot++) {
        slots[slot] = master;
      }
    }
    Map<String, Server> reachable = new TreeMap<>();
    Set<String> replicaIds = new HashSet<>(roles.replicas());
    for (Server replica : replicas) {
      reachable.put(replica.key(), replica);
      replicaIds.add(replica.nodeId());
      ids.add(replica.nodeId());
    }
    String least = ids.isEmpty() ? "" : Collections.min(ids);
    return new Topology(slots, masters, reachable, replicaIds, least, roles.epoch());
  }

  /** Slots that one master serves. */
  record Range(int first, int last, Server master) {}

  /**
   * The ids of all nodes and of those that are replicas.
   *
   * @param epoch the highest configuration epoch of any node; 0 if unknown. It rises with each
   *     failover and with each slot that moves
   */
  record Roles(Set<String> all, Set<String> replicas, long epoch) {
    static final Roles UNKNOWN = new Roles(Set.of(), Set.of(), 0);

    Roles {
      all = Set.copyOf(all);
      replicas = Set.copyOf(replicas);
    }
  }

  @Nullable Server owner(int slot) {
    return owners[slot];
  }

  /** Whether the master serves any of these slots. */
  boolean servesAny(Server master, int first, int last) {
    for (int slot = first; slot <= last; slot++) {
      Server owner = owners[slot];
      if (owner != null && owner.key().equals(master.key())) {
        return true;
      }
    }
    return false;
  }

  Collection<Server> masters() {
    return masters.values();
  }

  /** The replicas that can be reached. */
  Collection<Server> replicas() {
    return replicas.values();
  }

  boolean hasMaster(String key) {
    return masters.containsKey(key);
  }

  /** The known server with this endpoint, or an unknown one. */
  Server serverAt(Address address) {
    for (Map<String, Server> some : List.of(masters, replicas)) {
      for (Server server : some.values()) {
        if (server.isAt(address)) {
          return server;
        }
      }
    }
    return new Server("", List.of(address));
  }

  /** The smallest of all node ids, which is the same for all clients of one cluster. */
  String clusterId() {
    return clusterId;
  }

  /**
   * Whether the server that reported this topology had not heard of a change that {@code known}
   * contains. A server that is cut off from its cluster reports what it knew last. A cluster that
   * was made anew has other nodes, and begins with low epochs.
   */
  boolean isOlderThan(Topology known) {
    return epoch != 0
        && epoch < known.epoch
        && !Collections.disjoint(masters.keySet(), known.allKeys());
  }

  private Set<String> allKeys() {
    Set<String> keys = new HashSet<>(masters.keySet());
    keys.addAll(replicaIds);
    return keys;
  }

  /**
   * Returns this topology with the replicas of {@code before}. A server that was a replica counts
   * as a replica until it has slots: a promoted replica may first appear as a master without slots,
   * or not at all.
   */
  Topology after(Topology before) {
    Set<String> known = new HashSet<>(before.replicaIds);
    masters.values().forEach(master -> known.remove(master.nodeId()));
    known.addAll(replicaIds);
    return new Topology(owners, masters, replicas, known, clusterId, epoch);
  }

  /** The masters that were replicas in this earlier topology. */
  List<Server> promotedSince(Topology before) {
    return masters.values().stream().filter(master -> before.isReplica(master.nodeId())).toList();
  }

  boolean isReplica(String nodeId) {
    return replicaIds.contains(nodeId);
  }

  /** Whether the same servers serve the same slots; their endpoints may differ. */
  boolean serves(Topology other) {
    for (int slot = 0; slot < owners.length; slot++) {
      if (!key(owners[slot]).equals(key(other.owners[slot]))) {
        return false;
      }
    }
    return true;
  }

  private static String key(@Nullable Server owner) {
    return owner == null ? "" : owner.key();
  }

  /**
   * Returns this topology with the owner that a redirection named; used until the next topology
   * arrives.
   */
  Topology with(int slot, Server owner) {
    @Nullable Server[] changed = owners.clone();
    changed[slot] = owner;
    return new Topology(changed, masters, replicas, replicaIds, clusterId, epoch);
  }

  /** The endpoint of each server that serves a slot, for messages. */
  @Override
  public String toString() {
    Map<String, Address> shown = new HashMap<>();
    masters.values().forEach(master -> shown.put(master.nodeId(), master.endpoints().get(0)));
    return shown + " epoch " + epoch;
  }
}
