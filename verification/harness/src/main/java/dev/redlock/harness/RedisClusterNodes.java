package dev.redlock.harness;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisReplyException;
import dev.redlock.testkit.RedisSource;
import dev.redlock.testkit.RedisStartException;
import dev.redlock.testkit.ServerState;
import dev.redlock.testkit.TcpGate;
import dev.redlock.testkit.internal.PortReservation;
import dev.redlock.testkit.internal.Waiting;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
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
 * <p>A node that is restarted has lost its data, but keeps its identity in the cluster. The nodes
 * end with {@link #close()}, and in any case when this JVM ends. They are processes of this
 * machine, from the {@link RedisSource#configured() configured} source; containers and given
 * servers are not supported.
 */
public final class RedisClusterNodes implements Iterable<RedisNode>, AutoCloseable {
  private static final int SLOTS = SlotHash.SLOT_COUNT;

  /** In the reply to {@code CLUSTER NODES}: the master of a replica, or a dash. */
  private static final int MASTER_COLUMN = 3;

  private static final int EPOCH_COLUMN = 6;

  private static final int SLOTS_COLUMN = 8;

  private static final Duration FORM_PATIENCE = Duration.ofSeconds(30);
  private static final Duration PROMOTE_PATIENCE = Duration.ofSeconds(1);

  private final RedisNodes nodes;
  private final List<PortReservation> buses;

  private RedisClusterNodes(RedisNodes nodes, List<PortReservation> buses) {
    this.nodes = nodes;
    this.buses = buses;
  }

  /**
   * Starts a cluster with these numbers of masters and replicas. The masters share the slots
   * evenly, and the replicas are spread over the masters. When this returns, the cluster serves all
   * slots and the replicas are synchronized; that takes about 3 s.
   *
   * @throws RedisStartException if the nodes cannot be started
   */
  public static RedisClusterNodes start(int masters, int replicas) {
    return builder().masters(masters).replicas(replicas).start();
  }

  /**
   * Returns a builder. Defaults: three masters with one replica each, and a node timeout of 1 s.
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns the slot of a key, or of a name with a hash tag. */
  public static int slot(String key) {
    return SlotHash.getSlot(key);
  }

  /**
   * Returns the node with this index: first the nodes that started as masters, then those that
   * started as replicas.
   */
  public RedisNode get(int index) {
    return nodes.get(index);
  }

  /** The number of nodes, including dead ones. */
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

  /** The URIs for clients, in order; of the gates if there are any. */
  public List<String> uris() {
    return nodes.uris();
  }

  /**
   * The master that serves this key now, according to a running node; it may be dead.
   *
   * @throws IllegalStateException if no running node knows of one, for example during a failover
   */
  public RedisNode masterOf(String key) {
    return masterOf(slot(key));
  }

  /**
   * The master that serves this slot now, according to a running node; it may be dead.
   *
   * @throws IllegalStateException if no running node knows of one, for example during a failover
   */
  public RedisNode masterOf(int slot) {
    for (List<?> range : ranges()) {
      if ((Long) range.get(0) <= slot && slot <= (Long) range.get(1)) {
        return byAddress(range.get(2));
      }
    }
    throw new IllegalStateException("no master serves slot " + slot);
  }

  /** A running replica of the master that serves this key, as that master reports it. */
  public RedisNode replicaOf(String key) {
    RedisNode master = masterOf(key);
    return nodes.stream()
        .filter(node -> node.state() == ServerState.RUNNING && follows(node, master))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException(master + " has no running replica"));
  }

  private static boolean follows(RedisNode node, RedisNode master) {
    return node.command("ROLE") instanceof List<?> role
        && role.get(0).equals("slave")
        && role.get(2).equals((long) master.port());
  }

  /** All masters that serve slots now. */
  public List<RedisNode> masters() {
    return ranges().stream().map(range -> byAddress(range.get(2))).distinct().toList();
  }

  /**
   * Promotes a replica. Returns when it reports that it is a master.
   *
   * @param forced whether to promote it without the votes of the other masters ({@code TAKEOVER});
   *     otherwise by election
   */
  public void promote(RedisNode replica, boolean forced) {
    if (!forced) {
      // A master refuses its vote for a node that it does not know as the replica of a master. The
      // replica repeats a refused election only after four node timeouts.
      Waiting.until(
          () -> "all nodes know " + replica + " as a replica:\n" + describe(),
          FORM_PATIENCE,
          () -> isMaster(replica) || isKnownAsReplica(replica));
    }
    Waiting.until(
        () -> replica + " was promoted:\n" + describe(),
        FORM_PATIENCE,
        () -> {
          // Masters vote at most once in two node timeouts, and a replica drops an election without
          // a majority. So ask again.
          // The command fails if the replica has won an earlier election; the loop checks that
          // next.
          if (!isMaster(replica)) {
            replica.command(
                forced
                    ? new String[] {"CLUSTER", "FAILOVER", "TAKEOVER"}
                    : new String[] {"CLUSTER", "FAILOVER"});
          }
          return Waiting.reached(PROMOTE_PATIENCE, () -> isMaster(replica) && serves(replica));
        });
  }

  private boolean isKnownAsReplica(RedisNode replica) {
    String id = id(replica);
    return nodes.stream()
        .filter(node -> node.state() == ServerState.RUNNING)
        .allMatch(
            node ->
                String.valueOf(node.command("CLUSTER", "NODES"))
                    .lines()
                    .map(line -> line.split(" "))
                    .anyMatch(words -> words[0].equals(id) && !words[MASTER_COLUMN].equals("-")));
  }

  private static boolean isMaster(RedisNode node) {
    return String.valueOf(node.command("ROLE") instanceof List<?> role ? role.get(0) : "")
        .equals("master");
  }

  /**
   * Moves a slot and its keys to another master, one key after another, as redis-cli does. Clients
   * receive {@code ASK} and {@code TRYAGAIN} meanwhile. Does nothing if the slot is there already.
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
   * Starts to move a slot. From now on {@code from} redirects requests for keys that it does not
   * have.
   */
  public void openSlot(int slot, RedisNode from, RedisNode to) {
    to.command("CLUSTER", "SETSLOT", Integer.toString(slot), "IMPORTING", id(from));
    from.command("CLUSTER", "SETSLOT", Integer.toString(slot), "MIGRATING", id(to));
  }

  /** Moves the keys of a slot after {@link #openSlot}. */
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

  /**
   * Ends the move: the slot belongs to its new master. Returns when all running masters know it.
   *
   * <p>Without that wait, a quick second move could go wrong for ever: a master takes a new epoch
   * for a slot only if it knows of a higher epoch than its own. So it has to hear of the last move
   * first; otherwise an older claim that is still under way wins against it, and each of two
   * masters believes that the other one owns the slot.
   */
  public void closeSlot(int slot, RedisNode to) {
    to.command("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", id(to));
    for (RedisNode node : nodes) {
      if (node != to && node.state() == ServerState.RUNNING && isMaster(node)) {
        node.command("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", id(to));
      }
    }
    Waiting.until(
        () -> "all masters know the owner of slot " + slot + ":\n" + views(),
        FORM_PATIENCE,
        this::agree);
  }

  /** Removes all data on all masters, which must be running. */
  public void flush() {
    masters().forEach(RedisNode::flush);
  }

  /**
   * Ends all faults: opens gates, resumes paused nodes and restarts dead ones. Returns when all
   * nodes report that the cluster is healthy and all replicas are synchronized.
   */
  public void endFaults() {
    nodes.endFaults();
    awaitReady();
  }

  /**
   * Returns when all running nodes report that the cluster serves all slots and the replicas are
   * synchronized.
   */
  public void awaitReady() {
    Waiting.until(() -> "the cluster is healthy:\n" + describe(), FORM_PATIENCE, this::isReady);
  }

  private boolean isReady() {
    List<RedisNode> running =
        nodes.stream().filter(node -> node.state() == ServerState.RUNNING).toList();
    return running.stream().allMatch(RedisClusterNodes::serves)
        && running.stream().allMatch(RedisClusterNodes::isInStep)
        && agree();
  }

  /** Whether all running nodes know the same owner, with the same epoch, for each slot. */
  private boolean agree() {
    return nodes.stream()
            .filter(node -> node.state() == ServerState.RUNNING)
            .map(RedisClusterNodes::view)
            .distinct()
            .count()
        == 1;
  }

  private String views() {
    return nodes.stream()
        .filter(node -> node.state() == ServerState.RUNNING)
        .map(node -> node + " " + view(node))
        .collect(Collectors.joining("\n"));
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

  private static boolean serves(RedisNode node) {
    String info = String.valueOf(node.command("CLUSTER", "INFO"));
    return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SLOTS);
  }

  private static boolean isInStep(RedisNode node) {
    String info = String.valueOf(node.command("INFO", "replication"));
    return info.contains("role:master") || info.contains("master_link_status:up");
  }

  /** Returns one line per node, for failure messages; see {@link RedisNode#describe()}. */
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

  /** The server program and where it was found. */
  public String source() {
    return nodes.source();
  }

  /** Stops all nodes and removes their files. A second call does nothing. */
  @Override
  public void close() {
    nodes.close();
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
        .orElseThrow(() -> new IllegalStateException("not a node of this cluster: " + address));
  }

  /** Configures a cluster. Not safe for use by several threads. */
  public static final class Builder {
    private int masters = 3;
    private int replicas = 3;
    private boolean gated;
    private Duration nodeTimeout = Duration.ofSeconds(1);
    private List<String> serverArgs = List.of();
    private IntFunction<List<String>> nodeArgs = index -> List.of();
    private RedisSource source = RedisSource.configured();

    private Builder() {}

    /** Sets the number of masters. A failover needs the votes of a majority of them. */
    public Builder masters(int masters) {
      if (masters < 1) {
        throw new IllegalArgumentException("Needs at least one master, got " + masters);
      }
      this.masters = masters;
      return this;
    }

    /** Sets the number of replicas of all masters together. */
    public Builder replicas(int replicas) {
      this.replicas = replicas;
      return this;
    }

    /** Sets whether clients and replicas reach each node through a {@link TcpGate}. */
    public Builder gated(boolean gated) {
      this.gated = gated;
      return this;
    }

    /**
     * Sets the cluster node timeout: how long a node must be silent before it counts as failed.
     * Short values suit tests, not production.
     */
    public Builder nodeTimeout(Duration nodeTimeout) {
      this.nodeTimeout = nodeTimeout;
      return this;
    }

    /** Adds command line options for each server. */
    public Builder serverArgs(String... args) {
      this.serverArgs = List.of(args);
      return this;
    }

    /**
     * Adds command line options for single servers, such as a TLS port. The function receives the
     * index of a node; several threads call it.
     */
    public Builder nodeArgs(IntFunction<List<String>> nodeArgs) {
      this.nodeArgs = nodeArgs;
      return this;
    }

    /** Sets the source of the servers; overrides {@code -Dredlock.redis}. */
    public Builder source(RedisSource source) {
      this.source = source;
      return this;
    }

    /** Starts the nodes and makes them one cluster; see {@link RedisClusterNodes#start}. */
    public RedisClusterNodes start() {
      if (source == RedisSource.DOCKER || source == RedisSource.URI) {
        throw new IllegalStateException(
            "a cluster needs servers on ports of this machine, not " + source);
      }
      int count = masters + replicas;
      List<PortReservation> buses = reserve(count);
      // The servers report the ports of the gates to clients, so those are chosen first.
      List<PortReservation> gates = gated ? reserve(count) : List.of();
      try {
        RedisNodes nodes =
            RedisNodes.builder()
                .source(source)
                .count(count)
                .gated(gated)
                .ports(gates.stream().mapToInt(PortReservation::port).toArray())
                .nodeArgs(index -> args(index, buses, gates))
                .start();
        return formed(new RedisClusterNodes(nodes, buses));
      } catch (RuntimeException e) {
        buses.forEach(PortReservation::close);
        throw e;
      } finally {
        gates.forEach(PortReservation::close);
      }
    }

    private static List<PortReservation> reserve(int count) {
      return Stream.generate(PortReservation::any).limit(count).toList();
    }

    private RedisClusterNodes formed(RedisClusterNodes cluster) {
      try {
        cluster.form(masters);
      } catch (RuntimeException e) {
        cluster.close();
        throw e;
      }
      return cluster;
    }

    private List<String> args(int index, List<PortReservation> buses, List<PortReservation> gates) {
      List<String> args = new ArrayList<>(List.of("--cluster-enabled", "yes"));
      // The file is not in the data directory, so a node that restarts empty is still the same node
      // of the cluster.
      args.addAll(List.of("--cluster-config-file", "../nodes.conf"));
      args.addAll(List.of("--cluster-port", Integer.toString(buses.get(index).port())));
      args.addAll(List.of("--cluster-node-timeout", Long.toString(nodeTimeout.toMillis())));
      args.addAll(List.of("--cluster-announce-ip", "127.0.0.1"));
      // A replica must synchronize at once, and be promotable however long it was disconnected.
      args.addAll(List.of("--repl-diskless-sync-delay", "0"));
      args.addAll(List.of("--cluster-replica-validity-factor", "0"));
      args.addAll(List.of("--cluster-allow-replica-migration", "no"));
      if (gated) {
        args.addAll(List.of("--cluster-announce-port", Integer.toString(gates.get(index).port())));
      }
      args.addAll(serverArgs);
      args.addAll(nodeArgs.apply(index));
      return args;
    }
  }

  /**
   * Forms the cluster without redis-cli: assigns the slots, lets all nodes meet, then attaches the
   * replicas.
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

  /** Fails while the handshake with the master is in progress and only its address is known. */
  private static boolean replicate(RedisNode replica, String master) {
    try {
      replica.command("CLUSTER", "REPLICATE", master);
      return true;
    } catch (RedisReplyException e) {
      return false;
    }
  }
}
