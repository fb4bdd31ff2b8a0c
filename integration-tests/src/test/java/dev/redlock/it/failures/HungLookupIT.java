package dev.redlock.it.failures;

import static java.util.concurrent.CompletableFuture.completedStage;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.cluster.ClusterNodes;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.harness.Certificates;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.harness.TlsMaster;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.lettuce.Credentials;
import dev.redlock.lettuce.LettuceLockNode;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.lettuce.core.SslOptions;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What may block must not stop a quorum: for each node in turn, the lookup of its name hangs, or
 * what the user supplies for its connections. All connections of a client share one event loop, and
 * all nodes their threads.
 */
@Tag("thorough")
@RedisTest(nodes = 3)
class HungLookupIT {
  private static final Duration WAIT = Duration.ofSeconds(5);
  private static final Duration LEASE = Duration.ofSeconds(2);

  /** Longer than two lease times. */
  private static final long HELD_MILLIS = 4_500;

  /** What hangs. */
  enum What {
    /** The resolver of the JDK, without {@code netty-resolver-dns}. */
    JDK_LOOKUP,
    DNS_LOOKUP,
    ADDRESS_RESOLVER,
    CREDENTIALS
  }

  private final RedisNodes nodes;
  private final HangingNames names;
  private ClientResources resources;

  HungLookupIT(RedisNodes nodes) throws Exception {
    this.nodes = nodes;
    names = new HangingNames();
  }

  @AfterEach
  void end() throws Exception {
    names.close();
    if (resources != null) {
      resources.shutdown(0, 2, TimeUnit.SECONDS).get();
    }
  }

  static Stream<Arguments> eachOfEachNode() {
    return Arrays.stream(What.values())
        .flatMap(what -> IntStream.range(0, 3).mapToObj(node -> Arguments.of(what, node)));
  }

  private static String name(int node) {
    return "m" + node + ".test";
  }

  private ClientResources oneLoop(What what, IntFunction<String> host) {
    AddressResolverGroup<?> group =
        switch (what) {
          case JDK_LOOKUP -> names.blocking();
          case DNS_LOOKUP -> names.dns();
          case ADDRESS_RESOLVER, CREDENTIALS -> DefaultAddressResolverGroup.INSTANCE;
        };
    ClientResources.Builder builder =
        ClientResources.builder()
            .eventLoopGroupProvider(new DefaultEventLoopGroupProvider(1))
            .addressResolverGroup(group)
            .socketAddressResolver(
                MappingSocketAddressResolver.create(
                    (HostAndPort given) -> {
                      String mapped = host.apply(given.getPort());
                      if (what == What.ADDRESS_RESOLVER) {
                        names.await(mapped);
                      }
                      boolean lookedUp = what == What.JDK_LOOKUP || what == What.DNS_LOOKUP;
                      return HostAndPort.of(lookedUp ? mapped : "127.0.0.1", given.getPort());
                    }));
    return builder.build();
  }

  private LettuceOptions options(What what, String name) {
    LettuceOptions.Builder options = LettuceOptions.builder().clientResources(resources);
    if (what == What.CREDENTIALS) {
      options.credentials(
          () -> {
            names.await(name);
            return completedStage(new Credentials("default", "any".toCharArray()));
          });
    }
    return options.build();
  }

  private RedlockBuilder client(What what) {
    resources = oneLoop(what, port -> name(indexOf(port)));
    RedlockBuilder builder = Redlock.builder().restartGuard(RestartGuard.OFF);
    for (RedisNode node : nodes) {
      builder.nodes(LettuceLockNode.create(node.uri(), options(what, name(node.index()))));
    }
    return builder;
  }

  private int indexOf(int port) {
    return nodes.stream().filter(node -> node.port() == port).findFirst().orElseThrow().index();
  }

  private static void dropConnections(RedisNode node) {
    node.command("CLIENT", "KILL", "TYPE", "normal");
    node.command("CLIENT", "KILL", "TYPE", "pubsub");
  }

  private static Lease acquire(Redlock client) {
    return client
        .lock(
            "hung",
            LockOptions.builder()
                .leaseTime(LEASE)
                .nodeTimeout(Duration.ofMillis(400))
                .autoExtend(true)
                .build())
        .acquire(WAIT);
  }

  @ParameterizedTest
  @MethodSource("eachOfEachNode")
  void nodeWhoseConnectionHangsFromTheStart_leavesTheQuorum(What what, int node) {
    names.hang(name(node));
    try (Redlock client = client(what).build()) {
      acquire(client).close();
      assertThat(Clients.votes(client)).isEqualTo(2);
      assertThat(names.hung().stream().allMatch(Thread::isDaemon)).isTrue();

      names.endHang(name(node));

      Eventually.holds(() -> Clients.votes(client) == 3, nodes);
    }
  }

  @ParameterizedTest
  @EnumSource(What.class)
  void leaseThatIsHeld_outlivesTheHangOfEachNode(What what) throws Exception {
    try (Redlock client = Clients.voting(client(what).build(), 3);
        Lease lease = acquire(client)) {
      for (RedisNode node : nodes) {
        names.hang(name(node.index()));
        outlives(lease, client, node);
        names.endHang(name(node.index()));
        Eventually.holds(() -> Clients.votes(client) == 3, nodes);
      }
    }
    Eventually.holds(() -> names.hung().isEmpty(), nodes);
  }

  private void outlives(Lease lease, Redlock client, RedisNode node) throws Exception {
    dropConnections(node);
    Eventually.holds(() -> Clients.votes(client) == 2, nodes);
    Thread.sleep(HELD_MILLIS);
    assertThat(lease.isValid()).as("with %s in %s", node, nodes.describe()).isTrue();
    assertThat(names.hung().size()).as("bounded").isLessThanOrEqualTo(3);
  }

  /** The supplier hangs, or the file: a pipe that has no writer. */
  @ParameterizedTest
  @ValueSource(strings = {"supplier", "file"})
  void leaseThatIsHeld_outlivesTheHangOfEachTrust(String what, @TempDir Path temp)
      throws Exception {
    Certificates certificates = Certificates.in(temp);
    certificates.sign("good", "dns:localhost,ip:127.0.0.1");
    resources = oneLoop(What.CREDENTIALS, port -> "none");
    try (TlsMaster a = TlsMaster.start(temp, certificates, "good", false);
        TlsMaster b = TlsMaster.start(temp, certificates, "good", false);
        TlsMaster c = TlsMaster.start(temp, certificates, "good", false)) {
      List<TlsMaster> masters = List.of(a, b, c);
      RedlockBuilder builder = Redlock.builder().restartGuard(RestartGuard.OFF);
      for (TlsMaster master : masters) {
        Path trust = temp.resolve("trust" + master.port());
        Files.copy(certificates.certificate("authority"), trust);
        LettuceOptions.Builder options = LettuceOptions.builder().clientResources(resources);
        options.sslOptions(
            () -> {
              names.await(trust.toString());
              return SslOptions.builder().jdkSslProvider().trustManager(trust.toFile()).build();
            });
        builder.nodes(LettuceLockNode.create(master.uri(), options.build()));
      }
      try (Redlock client = Clients.voting(builder.build(), 3);
          Lease lease = acquire(client)) {
        for (TlsMaster master : masters) {
          Path trust = temp.resolve("trust" + master.port());
          Path kept = Files.move(trust, temp.resolve("kept" + master.port()));
          if (what.equals("file")) {
            new ProcessBuilder("mkfifo", trust.toString()).start().waitFor();
          } else {
            names.hang(trust.toString());
          }
          outlives(lease, client, master.node());
          Path pipe = temp.resolve("pipe" + master.port());
          if (what.equals("file")) {
            Files.move(trust, pipe);
          }
          Files.move(kept, trust);
          names.endHang(trust.toString());
          new RandomAccessFile(pipe.toFile(), "rw").close(); // Ends the reads.
          Eventually.holds(() -> Clients.votes(client) == 3, nodes);
        }
      }
    }
  }

  @Test
  void supplierOfTrust_thatHangs_leavesTheQuorum() {
    // All three get the record: of two that are reached, one alone could not tell the other of it.
    Clients.voting(client(What.CREDENTIALS).build(), 3).close();
    for (RedisNode node : nodes) {
      names.hang("trust");
      RedlockBuilder builder = Redlock.builder().restartGuard(RestartGuard.OFF);
      for (RedisNode each : nodes) {
        boolean hangs = each == node;
        LettuceOptions options =
            LettuceOptions.builder()
                .clientResources(resources)
                .sslOptions(
                    () -> {
                      names.await("trust");
                      return SslOptions.create();
                    })
                .build();
        String uri = hangs ? each.uri().replace("redis://", "rediss://") : each.uri();
        builder.nodes(LettuceLockNode.create(uri, options));
      }
      try (Redlock client = builder.build()) {
        acquire(client).close();
        assertThat(Clients.votes(client)).isEqualTo(2);
      }
      names.endHang("trust");
    }
  }

  @Test
  void client_thatIsClosedDuringAHang_leavesNoThreadBehind_whenTheLookupReturns() {
    names.hang(name(0));
    try (Redlock client = client(What.JDK_LOOKUP).build()) {
      acquire(client).close();
      Eventually.holds(() -> !names.hung().isEmpty(), nodes);
    }
    List<Thread> left = new ArrayList<>(names.hung());
    names.endHang(name(0));
    Eventually.holds(() -> left.stream().noneMatch(Thread::isAlive), nodes);
  }

  /** A cluster connects to its masters, to seeds for the topology, and for release hints. */
  @ParameterizedTest
  @EnumSource(
      value = What.class,
      names = {"JDK_LOOKUP", "DNS_LOOKUP", "ADDRESS_RESOLVER"})
  void cluster_outlivesTheHangOfEachMaster(What what) throws Exception {
    try (RedisClusterNodes cluster =
        RedisClusterNodes.builder().replicas(0).nodeTimeout(Duration.ofSeconds(15)).start()) {
      resources = oneLoop(what, port -> name(indexIn(cluster, port)));
      ClusterOptions options =
          ClusterOptions.builder()
              .refreshPeriod(Duration.ofMillis(500))
              .lettuce(LettuceOptions.builder().clientResources(resources).build())
              .build();
      for (int node = 0; node < 3; node++) {
        names.hang(name(node));
        try (Redlock client = cluster(cluster, options).build()) {
          acquire(client).close();
        }
        names.endHang(name(node));
      }
      try (Redlock client = Clients.voting(cluster(cluster, options).build(), 3);
          Lease lease = acquire(client)) {
        for (RedisNode node : cluster) {
          names.hang(name(node.index()));
          dropConnections(node);
          Thread.sleep(HELD_MILLIS);
          assertThat(lease.isValid()).as("with %s in %s", node, cluster.describe()).isTrue();
          names.endHang(name(node.index()));
          Eventually.holds(() -> Clients.votes(client) == 3, nodes);
        }
      }
    }
  }

  private static RedlockBuilder cluster(RedisClusterNodes cluster, ClusterOptions options) {
    return Redlock.builder()
        .restartGuard(RestartGuard.OFF)
        .nodes(ClusterNodes.spread(3).connect(cluster.uris(), options));
  }

  private static int indexIn(RedisClusterNodes cluster, int port) {
    return cluster.stream().filter(node -> node.port() == port).findFirst().orElseThrow().index();
  }
}
