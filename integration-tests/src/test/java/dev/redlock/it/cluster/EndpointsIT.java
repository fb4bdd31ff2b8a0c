package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.harness.RedisClusterBuilder;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Eventually;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.operations.NodeState;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.TcpGate;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How clients reach the masters of a cluster: addresses, proxies, translation, credentials. */
@Tag("thorough")
class EndpointsIT {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final LockOptions OPTIONS =
      LockOptions.builder().nodeTimeout(Duration.ofSeconds(1)).build();
  private static final ClusterOptions REFRESHING =
      ClusterOptions.builder().refreshPeriod(Duration.ofSeconds(1)).build();

  private static RedisClusterBuilder masters() {
    return RedisClusterNodes.builder().replicas(0).nodeTimeout(Duration.ofSeconds(15));
  }

  /** Locks one name in the slots of each master. */
  private static void lockOnEach(RedisClusterNodes cluster, Redlock redlock) {
    for (RedisNode master : cluster.masters()) {
      redlock.lock(nameOn(cluster, master), OPTIONS).acquire(WAIT).close();
    }
  }

  private static String nameOn(RedisClusterNodes cluster, RedisNode master) {
    int i = 0;
    while (cluster.masterOf("{e" + i + "}") != master) {
      i++;
    }
    return "endpoint_{e" + i + "}";
  }

  @Test
  void addressesOfVersion6_areSeedsRedirectionsAndMasters() throws Exception {
    assumeTrue(hasVersion6(), "this machine has no IPv6 loopback address");
    try (RedisClusterNodes cluster =
        masters()
            .serverArgs("--bind", "127.0.0.1", "::1", "--cluster-announce-ip", "::1")
            .start()) {
      String seed = "redis://[::1]:" + cluster.get(0).directPort();
      try (Redlock redlock = ClusterClients.start(List.of(seed), REFRESHING)) {
        lockOnEach(cluster, redlock);
        String name = nameOn(cluster, cluster.get(0));
        cluster.moveSlot(RedisClusterNodes.slot(name), cluster.get(1)); // MOVED to [::1]
        redlock.lock(name, OPTIONS).acquire(WAIT).close();
      }
      for (RedisNode master : cluster.masters()) {
        assertThat(String.valueOf(master.command("CLUSTER", "NODES"))).doesNotContain("127.0.0.1");
      }
    }
  }

  private static boolean hasVersion6() throws IOException {
    byte[] loopback = new byte[16];
    loopback[15] = 1;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByAddress(loopback))) {
      return socket.isBound();
    } catch (SocketException e) {
      return false;
    }
  }

  /**
   * The servers announce endpoints that do not work here, as behind network address translation.
   */
  @Test
  void translatedAddresses_areReachedThroughTheResolver_andOnlyThroughIt() {
    try (RedisClusterNodes cluster = masters().gated(true).start()) {
      cluster.forEach(node -> node.gate().cut());
      Map<Integer, Integer> inside =
          cluster.stream().collect(Collectors.toMap(RedisNode::port, RedisNode::directPort));
      Function<HostAndPort, HostAndPort> translate =
          outside ->
              HostAndPort.of(
                  outside.getHostText(), inside.getOrDefault(outside.getPort(), outside.getPort()));
      ClientResources resources =
          ClientResources.builder()
              .socketAddressResolver(MappingSocketAddressResolver.create(translate))
              .build();
      ClusterOptions translated =
          ClusterOptions.builder()
              .refreshPeriod(Duration.ofSeconds(1))
              .lettuce(LettuceOptions.builder().clientResources(resources).build())
              .build();
      try (Redlock redlock = ClusterClients.start(cluster.uris(), translated);
          Redlock without = ClusterClients.on(cluster.uris(), REFRESHING).build()) {
        lockOnEach(cluster, redlock);
        String name = nameOn(cluster, cluster.get(0));
        cluster.moveSlot(RedisClusterNodes.slot(name), cluster.get(1));
        redlock.lock(name, OPTIONS).acquire(WAIT).close();
        assertThatThrownBy(() -> without.lock(name, OPTIONS).tryAcquire())
            .isInstanceOf(QuorumUnavailableException.class);
      } finally {
        resources.shutdown(0, 1, TimeUnit.SECONDS);
      }
    }
  }

  /** The seed is a proxy, whose address is that of no server, and which then goes away. */
  @Test
  void configurationEndpoint_isNeededForTheStartOnly() {
    try (RedisClusterNodes cluster = masters().start();
        TcpGate endpoint = TcpGate.inFrontOf("127.0.0.1", cluster.get(2).directPort())) {
      String seed = "redis://localhost:" + endpoint.port();
      try (Redlock redlock = ClusterClients.start(List.of(seed), REFRESHING)) {
        endpoint.cut();
        lockOnEach(cluster, redlock);
        String name = nameOn(cluster, cluster.get(0));
        cluster.moveSlot(RedisClusterNodes.slot(name), cluster.get(1));
        redlock.lock(name, OPTIONS).acquire(WAIT).close();
        assertThat(endpoint.connections()).isZero();
      }
    }
  }

  @Test
  void credentialsOfEachSeed_serveForItsServerOnly() {
    try (RedisClusterNodes cluster = masters().start()) {
      List<String> seeds = new ArrayList<>();
      for (RedisNode node : cluster) {
        String user = "app" + node.index();
        node.command("ACL", "SETUSER", user, "on", ">secret", "~*", "&*", "+@all");
        seeds.add(node.uri().replace("redis://", "redis://" + user + ":secret@"));
      }
      try (Redlock redlock = ClusterClients.start(seeds, REFRESHING);
          Redlock one = ClusterClients.on(seeds.subList(0, 1), REFRESHING).build()) {
        lockOnEach(cluster, redlock);
        // The user of one seed does not exist on the other masters.
        String name = nameOn(cluster, cluster.get(1));
        ClusterClients.eventually(
            cluster, WAIT, () -> one.operations().nodes().get(0).state() == NodeState.State.VOTING);
        one.lock(nameOn(cluster, cluster.get(0)), OPTIONS).acquire(WAIT).close();
        Eventually.refused(
            () -> one.lock(name, OPTIONS).tryAcquire(), "WRONGPASS", WAIT, cluster::describe);
      }
    }
  }
}
