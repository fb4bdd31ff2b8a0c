package dev.redlock.harness;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.ServerState;
import io.lettuce.core.cluster.SlotHash;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the running nodes of a cluster report about it. */
final class ClusterView {
  /** In the reply to {@code CLUSTER NODES}: the master of a replica, or a dash. */
  private static final int MASTER_COLUMN = 3;

  private static final int EPOCH_COLUMN = 6;

  private static final int SLOTS_COLUMN = 8;

  private final RedisNodes nodes;

  ClusterView(RedisNodes nodes) {
    this.nodes = nodes;
  }

  private Stream<RedisNode> running() {
    return nodes.stream().filter(node -> node.state() == ServerState.RUNNING);
  }

  RedisNode masterOf(int slot) {
    for (List<?> range : ranges()) {
      if ((Long) range.get(0) <= slot && slot <= (Long) range.get(1)) {
        return byAddress(range.get(2));
      }
    }
    throw new IllegalStateException("no master serves slot " + slot);
  }

  List<RedisNode> masters() {
    return ranges().stream().map(range -> byAddress(range.get(2))).distinct().toList();
  }

  private List<List<?>> ranges() {
    RuntimeException last = new IllegalStateException("no node runs");
    for (RedisNode node : nodes) {
      if (node.state() != ServerState.RUNNING) {
        continue;
      }
      try {
        List<List<?>> all = new ArrayList<>();
        if (node.command("CLUSTER", "SLOTS") instanceof List<?> ranges) {
          ranges.forEach(range -> all.add((List<?>) range));
        }
        if (!all.isEmpty()) {
          return all;
        }
      } catch (RuntimeException e) {
        last = e;
      }
    }
    throw last;
  }

  private RedisNode byAddress(@Nullable Object address) {
    long port = address instanceof List<?> words && words.get(1) instanceof Long p ? p : -1;
    return nodes.stream()
        .filter(node -> node.port() == port)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("not a node of this cluster: " + address));
  }

  /** The running replicas of this master, as they report it. */
  Stream<RedisNode> replicasOf(RedisNode master) {
    return running().filter(node -> follows(node, master));
  }

  private static boolean follows(RedisNode node, RedisNode master) {
    return node.command("ROLE") instanceof List<?> role
        && role.get(0).equals("slave")
        && role.get(2).equals((long) master.port());
  }

  /** Whether all running nodes know this one as the replica of a master. */
  boolean isKnownAsReplica(RedisNode replica) {
    String id = id(replica);
    return running()
        .allMatch(
            node ->
                String.valueOf(node.command("CLUSTER", "NODES"))
                    .lines()
                    .map(line -> line.split(" "))
                    .anyMatch(words -> words[0].equals(id) && !words[MASTER_COLUMN].equals("-")));
  }

  static boolean isMaster(RedisNode node) {
    return String.valueOf(node.command("ROLE") instanceof List<?> role ? role.get(0) : "")
        .equals("master");
  }

  /** Whether the cluster serves all slots, and the replicas are synchronized. */
  boolean isReady() {
    return running().allMatch(ClusterView::serves)
        && running().allMatch(ClusterView::isInStep)
        && agree();
  }

  /** Whether all running nodes know the same owner, with the same epoch, for each slot. */
  boolean agree() {
    return running().map(ClusterView::view).distinct().count() == 1;
  }

  /** The owners of slots according to each running node, one line per node. */
  String views() {
    return running().map(node -> node + " " + view(node)).collect(Collectors.joining("\n"));
  }

  /**
   * The owners of slots according to one node: identity, epoch and slots of each, as a text that is
   * equal on all nodes once they agree.
   */
  private static String view(RedisNode node) {
    return String.valueOf(node.command("CLUSTER", "NODES"))
        .lines()
        .map(line -> line.split(" "))
        .filter(words -> words.length > SLOTS_COLUMN)
        .map(words -> words[0] + " epoch " + words[EPOCH_COLUMN] + " " + ownedSlots(words))
        .sorted()
        .collect(Collectors.joining(", "));
  }

  /** Without the slots in brackets: only their owner reports them, while they are moved. */
  private static String ownedSlots(String[] words) {
    return Stream.of(words)
        .skip(SLOTS_COLUMN)
        .filter(range -> !range.startsWith("["))
        .collect(Collectors.joining(" "));
  }

  static boolean serves(RedisNode node) {
    String info = String.valueOf(node.command("CLUSTER", "INFO"));
    return info.contains("cluster_state:ok")
        && info.contains("cluster_slots_ok:" + SlotHash.SLOT_COUNT);
  }

  private static boolean isInStep(RedisNode node) {
    String info = String.valueOf(node.command("INFO", "replication"));
    return info.contains("role:master") || info.contains("master_link_status:up");
  }

  static String id(RedisNode node) {
    return String.valueOf(node.command("CLUSTER", "MYID"));
  }
}
