package dev.redlock.testkit;

import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One Redis Cluster for a test, on ports of 127.0.0.1.
 *
 * <pre>{@code
 * try (RedisClusterNodes cluster = RedisClusterNodes.start(3, 3)) {
 *   connect(cluster.uris());
 *   cluster.masterOf("{orders}").kill(); // a replica takes over within about the node timeout
 *   cluster.moveSlot(RedisClusterNodes.slot("{goods}"), cluster.get(1));
 * }
 * }</pre>
 *
 * <p>A node that is restarted has lost its data but not its place in the cluster. The nodes end
 * with {@link #close()}, and in any case with this JVM. They are processes of this machine, from
 * the {@link RedisSource#configured() configured} source; containers and given servers will not do.
 */
public final class RedisClusterNodes implements Iterable<RedisNode>, AutoCloseable {
  private static final int SLOTS = SlotHash.SLOT_COUNT;
  private static final Duration FORM_PATIENCE = Duration.ofSeconds(30);
  private static final Duration PROMOTE_PATIENCE = Duration.ofSeconds(1);

  private static final Executor STARTERS =
      task -> {
        Thread thread = new Thread(task, "redlock-testkit-cluster");
        thread.setDaemon(true);
        thread.start();
      };

  private final List<RedisNode> nodes;
  private final List<PortReservation> buses;
  private final String source;

  private RedisClusterNodes(List<RedisNode> nodes, List<PortReservation> buses, String source) {
    this.nodes = nodes;
    this.buses = buses;
    this.source = source;
  }

  /**
   * Starts so many masters, which share the slots evenly, and so many replicas, which are spread
   * over the masters. When this returns the cluster serves all slots and the replicas are in step;
   * that takes some 3 s.
   *
   * @throws RedisStartException if that cannot be done
   */
  public static RedisClusterNodes start(int masters, int replicas) {
    return builder().masters(masters).replicas(replicas).start();
  }

  /** Three masters with a replica each and a node timeout of 1 s, unless told otherwise. */
  public static Builder builder() {
    return new Builder();
  }

  /** The slot of a key, or of a name with a hash tag. */
  public static int slot(String key) {
    return SlotHash.getSlot(key);
  }

  /** The node with this index: first those that began as masters, then those that did not. */
  public RedisNode get(int index) {
    return nodes.get(index);
  }

  /** How many nodes there are, dead ones included. */
  public int size() {
    return nodes.size();
  }

  @Override
  public Iterator<RedisNode> iterator() {
    return nodes.iterator();
  }

  /** The nodes in order. */
  public Stream<RedisNode> stream() {
    return nodes.stream();
  }

  /** The addresses for clients, in order, through the gates if there are any. */
  public List<String> uris() {
    return nodes.stream().map(RedisNode::uri).toList();
  }

  /**
   * The master that serves this key now, as a node that runs sees it; it may be dead.
   *
   * @throws IllegalStateException if no node that runs knows of one, as in the middle of a failover
   */
  public RedisNode masterOf(String key) {
    return masterOf(slot(key));
  }

  /**
   * The master that serves this slot now, as a node that runs sees it; it may be dead.
   *
   * @throws IllegalStateException if no node that runs knows of one, as in the middle of a failover
   */
  public RedisNode masterOf(int slot) {
    for (List<?> range : ranges()) {
      if ((Long) range.get(0) <= slot && slot <= (Long) range.get(1)) {
        return byAddress(range.get(2));
      }
    }
    throw new IllegalStateException("slot " + slot + " is served by nobody");
  }

  /** A replica of whoever serves this key, by its own account; it runs. */
  public RedisNode replicaOf(String key) {
    RedisNode master = masterOf(key);
    return nodes.stream()
        .filter(node -> node.state() == ServerState.RUNNING && follows(node, master))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException(master + " has no replica that runs"));
  }

  private static boolean follows(RedisNode node, RedisNode master) {
    return node.command("ROLE") instanceof List<?> role
        && role.get(0).equals("slave")
        && role.get(2).equals((long) master.port());
  }

  /** All that serve slots now. */
  public List<RedisNode> masters() {
    return ranges().stream().map(range -> byAddress(range.get(2))).distinct().toList();
  }

  /**
   * Makes a replica the master of its slots, and returns when it says that it is.
   *
   * @param forced whether to do so without asking the others for their votes ({@code TAKEOVER});
   *     otherwise by election
   */
  public void promote(RedisNode replica, boolean forced) {
    Waiting.until(
        () -> replica + " was promoted:\n" + describe(),
        FORM_PATIENCE,
        () -> {
          // Masters vote once in two node timeouts, and an attempt that found no votes is dropped.
          // The command fails if the election was won after all, and that is looked at next.
          if (!isMaster(replica)) {
            replica.command(
                forced
                    ? new String[] {"CLUSTER", "FAILOVER", "TAKEOVER"}
                    : new String[] {"CLUSTER", "FAILOVER"});
          }
          return Waiting.reached(PROMOTE_PATIENCE, () -> isMaster(replica) && serves(replica));
        });
  }

  private static boolean isMaster(RedisNode node) {
    return String.valueOf(node.command("ROLE") instanceof List<?> role ? role.get(0) : "")
        .equals("master");
  }

  /**
   * Moves a slot and its keys to another master, one key after the other, as the tools do; clients
   * are told {@code ASK} and {@code TRYAGAIN} meanwhile. Nothing happens if it is there.
   */
  public void moveSlot(int slot, RedisNode to) {
    RedisNode from = masterOf(slot);
    if (from == to) {
      return;
    }
    openSlot(slot, from, to);
    moveKeys(slot, from, to);
    closeSlot(slot, to);
  }

  /**
   * Begins to move a slot; from here on, keys that {@code from} has not got are asked for there.
   */
  public void openSlot(int slot, RedisNode from, RedisNode to) {
    to.command("CLUSTER", "SETSLOT", Integer.toString(slot), "IMPORTING", id(from));
    from.command("CLUSTER", "SETSLOT", Integer.toString(slot), "MIGRATING", id(to));
  }

  /** Moves the keys of a slot that has been opened. */
  public void moveKeys(int slot, RedisNode from, RedisNode to) {
    while (from.command("CLUSTER", "GETKEYSINSLOT", Integer.toString(slot), "100")
            instanceof List<?> keys
        && !keys.isEmpty()) {
      for (Object key : keys) {
        from.command(
            "MIGRATE",
            "127.0.0.1",
            Integer.toString(to.directPort()),
            String.valueOf(key),
            "0",
            "5000");
      }
    }
  }

  /** Gives the slot to its new master for good. */
  public void closeSlot(int slot, RedisNode to) {
    to.command("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", id(to));
    for (RedisNode node : nodes) {
      if (node != to && node.state() == ServerState.RUNNING && isMaster(node)) {
        node.command("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", id(to));
      }
    }
  }

  /** Removes all data on all masters, which must be running. */
  public void flush() {
    masters().forEach(RedisNode::flush);
  }

  /**
   * Ends all faults: heals gates, resumes paused nodes, restarts dead ones, and returns when all
   * agree that the cluster is well and all replicas are in step.
   */
  public void heal() {
    nodes.forEach(RedisNode::heal);
    awaitReady();
  }

  /** Returns when all nodes that run agree that the cluster serves all slots, replicas in step. */
  public void awaitReady() {
    Waiting.until(() -> "the cluster is well:\n" + describe(), FORM_PATIENCE, this::isReady);
  }

  private boolean isReady() {
    List<RedisNode> running =
        nodes.stream().filter(node -> node.state() == ServerState.RUNNING).toList();
    return running.stream().allMatch(RedisClusterNodes::serves)
        && running.stream().allMatch(RedisClusterNodes::isInStep)
        && running.stream().map(RedisClusterNodes::view).distinct().count() == 1;
  }

  /** Who serves what, in words that are the same on all nodes once they agree. */
  private static String view(RedisNode node) {
    Object slots = node.command("CLUSTER", "SLOTS");
    return slots instanceof List<?> ranges
        ? ranges.stream()
            .map(range -> (List<?>) range)
            .map(range -> range.get(0) + "-" + range.get(1) + "@" + ((List<?>) range.get(2)).get(2))
            .sorted()
            .toList()
            .toString()
        : "";
  }

  private static boolean serves(RedisNode node) {
    String info = String.valueOf(node.command("CLUSTER", "INFO"));
    return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SLOTS);
  }

  private static boolean isInStep(RedisNode node) {
    String info = String.valueOf(node.command("INFO", "replication"));
    return info.contains("role:master") || info.contains("master_link_status:up");
  }

  /** One line for each node, for failure messages; see {@link RedisNode#describe()}. */
  public String describe() {
    return nodes.stream()
        .map(node -> node.describe() + role(node))
        .collect(Collectors.joining("\n"));
  }

  private static String role(RedisNode node) {
    try {
      return " " + node.command("ROLE");
    } catch (RuntimeException e) {
      return "";
    }
  }

  @Override
  public String toString() {
    return nodes.toString();
  }

  /** What runs, and where it was found. */
  public String source() {
    return source;
  }

  /** Ends all nodes and removes their files. A second call does nothing. */
  @Override
  public void close() {
    List<CompletableFuture<Void>> closing =
        nodes.stream().map(node -> CompletableFuture.runAsync(node::close, STARTERS)).toList();
    CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new)).join();
    buses.forEach(PortReservation::close);
  }

  private static String id(RedisNode node) {
    return String.valueOf(node.command("CLUSTER", "MYID"));
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
        .orElseThrow(() -> new IllegalStateException("none of ours: " + address));
  }

  /** What to start. Not for concurrent use. */
  public static final class Builder {
    private int masters = 3;
    private int replicas = 3;
    private boolean gated;
    private Duration nodeTimeout = Duration.ofSeconds(1);
    private List<String> serverArgs = List.of();

    private Builder() {}

    /** How many masters; a failover needs the votes of a majority of them. */
    public Builder masters(int masters) {
      if (masters < 1) {
        throw new IllegalArgumentException("Needs at least one master, got " + masters);
      }
      this.masters = masters;
      return this;
    }

    /** How many replicas, of all masters together. */
    public Builder replicas(int replicas) {
      this.replicas = replicas;
      return this;
    }

    /** Whether each node is reached through a {@link TcpGate}, by clients and by its replicas. */
    public Builder gated(boolean gated) {
      this.gated = gated;
      return this;
    }

    /** After what silence a node is taken for dead. Short ones suit tests, not production. */
    public Builder nodeTimeout(Duration nodeTimeout) {
      this.nodeTimeout = nodeTimeout;
      return this;
    }

    /** Further command line options for each server. */
    public Builder serverArgs(String... args) {
      this.serverArgs = List.of(args);
      return this;
    }

    /** Starts the nodes and makes them one cluster; see {@link RedisClusterNodes#start}. */
    public RedisClusterNodes start() {
      ServerFactory servers = RedisSource.configured().find(RedisSource.configuredBinary());
      ClusterNodeStarter starter = new ClusterNodeStarter(servers, gated, nodeTimeout, serverArgs);
      List<CompletableFuture<ClusterNodeStarter.Started>> starting =
          IntStream.range(0, masters + replicas)
              .mapToObj(i -> CompletableFuture.supplyAsync(() -> starter.start(i), STARTERS))
              .toList();
      List<RedisNode> nodes = new ArrayList<>();
      List<PortReservation> buses = new ArrayList<>();
      @Nullable Throwable failure = null;
      for (CompletableFuture<ClusterNodeStarter.Started> one : starting) {
        try {
          nodes.add(one.join().node());
          buses.add(one.join().bus());
        } catch (CompletionException e) {
          failure = e.getCause();
        }
      }
      RedisClusterNodes cluster =
          new RedisClusterNodes(List.copyOf(nodes), buses, servers.description());
      try {
        if (failure != null) {
          throw new RedisStartException("A node could not be started", failure);
        }
        cluster.form(masters);
      } catch (RuntimeException e) {
        cluster.close();
        throw e;
      }
      return cluster;
    }
  }

  /**
   * By the client alone: slots, then everybody meets everybody, then replicas find their master.
   */
  private void form(int masters) {
    for (int i = 0; i < masters; i++) {
      int first = i * SLOTS / masters;
      int last = (i + 1) * SLOTS / masters - 1;
      nodes
          .get(i)
          .command("CLUSTER", "ADDSLOTSRANGE", Integer.toString(first), Integer.toString(last));
    }
    for (int i = 0; i < nodes.size(); i++) {
      nodes.get(i).command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      for (int j = 0; j < i; j++) {
        nodes
            .get(i)
            .command(
                "CLUSTER",
                "MEET",
                "127.0.0.1",
                Integer.toString(nodes.get(j).directPort()),
                Integer.toString(buses.get(j).port()));
      }
    }
    String all = "cluster_known_nodes:" + nodes.size();
    Waiting.until(
        "all nodes know each other",
        FORM_PATIENCE,
        () ->
            nodes.stream()
                .allMatch(
                    node -> String.valueOf(node.command("CLUSTER", "INFO")).contains(all + "\r")));
    for (int i = masters; i < nodes.size(); i++) {
      RedisNode replica = nodes.get(i);
      String master = id(nodes.get((i - masters) % masters));
      Waiting.until(replica + " knows its master", FORM_PATIENCE, () -> replicate(replica, master));
    }
    awaitReady();
  }

  /** Fails while the master is known by its address only: the handshake is under way. */
  private static boolean replicate(RedisNode replica, String master) {
    try {
      replica.command("CLUSTER", "REPLICATE", master);
      return true;
    } catch (RedisReplyException e) {
      return false;
    }
  }
}
