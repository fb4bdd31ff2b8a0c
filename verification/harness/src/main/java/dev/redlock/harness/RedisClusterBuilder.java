package dev.redlock.harness;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisReplyException;
import dev.redlock.testkit.RedisSource;
import dev.redlock.testkit.TcpGate;
import dev.redlock.testkit.internal.PortReservation;
import dev.redlock.testkit.internal.Waiting;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** Configures a cluster. Not safe for use by several threads. */
public final class RedisClusterBuilder {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private int masters = 3;
  private int replicas = 3;
  private boolean gated;
  private Duration nodeTimeout = Duration.ofSeconds(1);
  private List<String> serverArgs = List.of();
  private IntFunction<List<String>> nodeArgs = index -> List.of();
  private RedisSource source = RedisSource.configured();

  RedisClusterBuilder() {}

  /** Sets the number of masters. A failover needs the votes of a majority of them. */
  public RedisClusterBuilder masters(int masters) {
    if (masters < 1) {
      throw new IllegalArgumentException("Needs at least one master, got " + masters);
    }
    this.masters = masters;
    return this;
  }

  /** Sets the number of replicas of all masters together. */
  public RedisClusterBuilder replicas(int replicas) {
    this.replicas = replicas;
    return this;
  }

  /** Sets whether clients and replicas reach each node through a {@link TcpGate}. */
  public RedisClusterBuilder gated(boolean gated) {
    this.gated = gated;
    return this;
  }

  /**
   * Sets the cluster node timeout: how long a node must be silent before it counts as failed. Short
   * values suit tests, not production.
   */
  public RedisClusterBuilder nodeTimeout(Duration nodeTimeout) {
    this.nodeTimeout = nodeTimeout;
    return this;
  }

  /** Adds command line options for each server. */
  public RedisClusterBuilder serverArgs(String... args) {
    this.serverArgs = List.of(args);
    return this;
  }

  /**
   * Adds command line options for single servers, such as a TLS port. The function receives the
   * index of a node; several threads call it.
   */
  public RedisClusterBuilder nodeArgs(IntFunction<List<String>> nodeArgs) {
    this.nodeArgs = nodeArgs;
    return this;
  }

  /** Sets the source of the servers; overrides {@code -Dredlock.redis}. */
  public RedisClusterBuilder source(RedisSource source) {
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
      return formed(new RedisClusterNodes(nodes, buses), buses);
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

  private RedisClusterNodes formed(RedisClusterNodes cluster, List<PortReservation> buses) {
    try {
      form(cluster, buses);
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

  /**
   * Forms the cluster without redis-cli: assigns the slots, lets all nodes meet, then attaches the
   * replicas.
   */
  private void form(RedisClusterNodes cluster, List<PortReservation> buses) {
    for (int i = 0; i < masters; i++) {
      int first = i * SlotHash.SLOT_COUNT / masters;
      int last = (i + 1) * SlotHash.SLOT_COUNT / masters - 1;
      cluster
          .get(i)
          .command("CLUSTER", "ADDSLOTSRANGE", Integer.toString(first), Integer.toString(last));
    }
    for (int i = 0; i < cluster.size(); i++) {
      cluster.get(i).command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      for (int j = 0; j < i; j++) {
        cluster
            .get(i)
            .command(
                "CLUSTER",
                "MEET",
                "127.0.0.1",
                Integer.toString(cluster.get(j).directPort()),
                Integer.toString(buses.get(j).port()));
      }
    }
    String all = "cluster_known_nodes:" + cluster.size();
    Waiting.until(
        "all nodes know each other",
        PATIENCE,
        () ->
            cluster.stream()
                .allMatch(
                    node -> String.valueOf(node.command("CLUSTER", "INFO")).contains(all + "\r")));
    for (int i = masters; i < cluster.size(); i++) {
      RedisNode replica = cluster.get(i);
      String master = ClusterView.id(cluster.get((i - masters) % masters));
      Waiting.until(replica + " knows its master", PATIENCE, () -> replicate(replica, master));
    }
    cluster.awaitReady();
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
