package dev.redlock.cluster.internal;

import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Who serves what, as the cluster told. Immutable. */
final class Topology {
  /** A master. Equal if it is the same server at the same place. */
  record Master(String nodeId, Address address) {}

  private final @Nullable Master[] owners;
  private final Map<Address, Master> masters;
  private final Set<String> replicaIds;
  private final String clusterId;

  private Topology(
      @Nullable Master[] owners,
      Map<Address, Master> masters,
      Set<String> replicaIds,
      String clusterId) {
    this.owners = owners;
    this.masters = masters;
    this.replicaIds = replicaIds;
    this.clusterId = clusterId;
  }

  static Topology of(Partitions partitions) {
    @Nullable Master[] owners = new Master[Slots.COUNT];
    Map<Address, Master> masters = new LinkedHashMap<>();
    Set<String> replicas = new HashSet<>();
    String least = "";
    for (RedisClusterNode node : partitions) {
      String id = node.getNodeId();
      least = least.isEmpty() || id.compareTo(least) < 0 ? id : least;
      if (!node.getRole().isUpstream()) {
        replicas.add(id);
      } else if (!node.hasNoSlots()) {
        Address address = new Address(node.getUri().getHost(), node.getUri().getPort());
        Master master = new Master(id, address);
        masters.put(address, master);
        node.forEachSlot(slot -> owners[slot] = master);
      }
    }
    return new Topology(owners, masters, replicas, least);
  }

  @Nullable Master owner(int slot) {
    return owners[slot];
  }

  Collection<Master> masters() {
    return masters.values();
  }

  boolean hasMasterAt(Address address) {
    return masters.containsKey(address);
  }

  /** The least of all nodes' ids: the same for whoever looks at the same cluster. */
  String clusterId() {
    return clusterId;
  }

  /**
   * The same, but who was a replica counts as one until it has slots: a promoted replica may be
   * seen as a master without any, or not at all, before it is seen with those of its master.
   */
  Topology after(Topology before) {
    Set<String> replicas = new HashSet<>(before.replicaIds);
    masters.values().forEach(master -> replicas.remove(master.nodeId()));
    replicas.addAll(replicaIds);
    return new Topology(owners, masters, replicas, clusterId);
  }

  boolean isReplica(String nodeId) {
    return replicaIds.contains(nodeId);
  }

  boolean serves(Topology other) {
    return Arrays.equals(owners, other.owners);
  }

  /** What a redirection told, until the whole is asked for again. */
  Topology with(int slot, Address address) {
    Master known = masters.getOrDefault(address, new Master("", address));
    @Nullable Master[] changed = owners.clone();
    changed[slot] = known;
    return new Topology(changed, masters, replicaIds, clusterId);
  }
}
