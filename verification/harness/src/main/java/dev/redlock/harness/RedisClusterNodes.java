package dev.redlock.harness;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisSource;
import dev.redlock.testkit.RedisStartException;
import dev.redlock.testkit.ServerState;
import dev.redlock.testkit.internal.PortReservation;
import dev.redlock.testkit.internal.Waiting;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration PROMOTE_PATIENCE = Duration.ofSeconds(1);

  private final RedisNodes nodes;
  private final List<PortReservation> buses;
  private final ClusterView view;

  RedisClusterNodes(RedisNodes nodes, List<PortReservation> buses) {
    this.nodes = nodes;
    this.buses = buses;
    view = new ClusterView(nodes);
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
  public static RedisClusterBuilder builder() {
    return new RedisClusterBuilder();
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
    return view.masterOf(slot);
  }

  /** A running replica of the master that serves this key, as that master reports it. */
  public RedisNode replicaOf(String key) {
    RedisNode master = masterOf(key);
    return view.replicasOf(master)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException(master + " has no running replica"));
  }

  /** All masters that serve slots now. */
  public List<RedisNode> masters() {
    return view.masters();
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
          PATIENCE,
          () -> ClusterView.isMaster(replica) || view.isKnownAsReplica(replica));
    }
    Waiting.until(
        () -> replica + " was promoted:\n" + describe(),
        PATIENCE,
        () -> {
          // Masters vote at most once in two node timeouts, and a replica drops an election without
          // a majority. So ask again.
          // The command fails if the replica has won an earlier election; the loop checks that
          // next.
          if (!ClusterView.isMaster(replica)) {
            replica.command(
                forced
                    ? new String[] {"CLUSTER", "FAILOVER", "TAKEOVER"}
                    : new String[] {"CLUSTER", "FAILOVER"});
          }
          return Waiting.reached(
              PROMOTE_PATIENCE, () -> ClusterView.isMaster(replica) && ClusterView.serves(replica));
        });
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
    to.command("CLUSTER", "SETSLOT", Integer.toString(slot), "IMPORTING", ClusterView.id(from));
    from.command("CLUSTER", "SETSLOT", Integer.toString(slot), "MIGRATING", ClusterView.id(to));
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
    to.command("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", ClusterView.id(to));
    for (RedisNode node : nodes) {
      if (node != to && node.state() == ServerState.RUNNING && ClusterView.isMaster(node)) {
        node.command("CLUSTER", "SETSLOT", Integer.toString(slot), "NODE", ClusterView.id(to));
      }
    }
    Waiting.until(
        () -> "all masters know the owner of slot " + slot + ":\n" + view.views(),
        PATIENCE,
        view::agree);
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
    Waiting.until(() -> "the cluster is healthy:\n" + describe(), PATIENCE, view::isReady);
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
}
