package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.VotingWatch;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How clients learn the topology, and what it costs. */
@Tag("thorough")
class TopologyIT {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final LockOptions OPTIONS =
      LockOptions.builder().nodeTimeout(Duration.ofSeconds(1)).build();

  /** Long enough for several refresh periods. */
  private static final Duration REST =
      Duration.ofSeconds(Integer.getInteger("redlock.restSeconds", 8));

  private static RedisClusterNodes cluster;

  @BeforeAll
  static void start() {
    cluster = RedisClusterNodes.builder().nodeTimeout(Duration.ofSeconds(15)).start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @AfterEach
  void endFaults() {
    for (RedisNode node : cluster) {
      node.command("CONFIG", "SET", "cluster-announce-hostname", "");
      node.command("CONFIG", "SET", "cluster-preferred-endpoint-type", "ip");
    }
    cluster.endFaults();
  }

  /** The ids of all connections, except of the test kit's commands and of masters that migrate. */
  private static Set<String> connections() {
    Set<String> ids = new TreeSet<>();
    for (RedisNode node : cluster) {
      String.valueOf(node.command("CLIENT", "LIST", "TYPE", "normal"))
          .lines()
          .filter(line -> !line.contains("cmd=client|list") && !line.contains("cmd=restore"))
          .forEach(line -> ids.add(node.index() + " " + line.split(" ", 2)[0]));
    }
    return ids;
  }

  /**
   * How many connections all servers have received, except the test kit's one for this question.
   */
  private static long connectionsMade() {
    long made = 0;
    for (RedisNode node : cluster) {
      made +=
          String.valueOf(node.command("INFO", "stats"))
              .lines()
              .filter(line -> line.startsWith("total_connections_received:"))
              .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).trim()))
              .findFirst()
              .orElseThrow();
    }
    return made;
  }

  private static ClusterOptions refreshing() {
    return ClusterOptions.builder().refreshPeriod(Duration.ofSeconds(1)).build();
  }

  @Test
  void clientsAtRest_makeNoNewConnection() throws Exception {
    List<Redlock> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 10; i++) {
        clients.add(ClusterClients.start(cluster.uris(), refreshing()));
      }
      List<String> names = List.of("rest_{1}", "rest_{2}", "rest_{3}", "rest_{4}");
      for (Redlock client : clients) {
        names.forEach(name -> client.lock(name, OPTIONS).acquire(WAIT).close());
      }
      Thread.sleep(1_000); // The last connections of the start.
      long first = connectionsMade();
      long before = connectionsMade();
      long ofTheTest = before - first; // The test kit connects for each command.
      Set<String> known = connections();
      long ofTheList = ofTheTest;
      Thread.sleep(REST.toMillis());
      long made = connectionsMade() - before - ofTheTest - ofTheList;
      assertThat(connections()).isEqualTo(known);
      System.out.printf(
          "cluster: 10 clients at rest for %d s made %d connections%n", REST.toSeconds(), made);
      assertThat(made).isZero();
    } finally {
      clients.forEach(Redlock::close);
    }
  }

  @Test
  void hungMaster_othersAreServed_andTheTopologyIsStillKnown() {
    RedisNode hung = cluster.masterOf("{a}");
    List<String> names = new ArrayList<>();
    for (int i = 0; names.size() < 2; i++) {
      if (cluster.masterOf("{n" + i + "}") != hung) {
        names.add("n_{n" + i + "}");
      }
    }
    try (Redlock redlock = ClusterClients.start(cluster.uris(), refreshing())) {
      redlock.lock(names.get(0), OPTIONS).acquire(WAIT).close();
      hung.pause();
      try {
        // A new client has no connection to any master and learns the topology from the others.
        for (int i = 0; i < 5; i++) {
          long begin = System.nanoTime();
          redlock.lock(names.get(i % 2), OPTIONS).acquire(WAIT).close();
          assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(2));
        }
        try (Redlock fresh = ClusterClients.start(cluster.uris(), refreshing())) {
          fresh.lock(names.get(1), OPTIONS).acquire(WAIT).close();
        }
      } finally {
        hung.resume();
      }
    }
  }

  private static int slot(String name) {
    return RedisClusterNodes.slot(name);
  }

  /** Whether the node tells the host name of each server, as its endpoint or beside it. */
  private static boolean tellsEachName(RedisNode node) {
    return ((List<?>) node.command("CLUSTER", "SLOTS"))
        .stream()
            .flatMap(range -> ((List<?>) range).stream().skip(2)) // After first and last slot.
            .allMatch(server -> String.valueOf(server).contains("localhost"));
  }

  /**
   * Some nodes announce a name and others do not, as during a rolling change of the configuration,
   * so that each answer names the same servers differently.
   */
  @Test
  void announcedNames_whileSlotsMove_endNoConnection() throws Exception {
    VotingWatch watch = new VotingWatch();
    try (Redlock redlock =
        ClusterClients.on(cluster.uris(), refreshing()).listener(watch).build()) {
      watch.awaitVoting(1);
      Lease lease = redlock.lock("kept_{moving}", OPTIONS).acquire(WAIT);
      redlock.lock("other_{moving}", OPTIONS).acquire(WAIT).close();
      Set<String> before = connections();
      for (RedisNode node : cluster) {
        node.command("CONFIG", "SET", "cluster-announce-hostname", "localhost");
        if (node.index() % 2 == 0) {
          node.command("CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname");
        }
      }
      // Waits for the gossip of the servers, which may take half of the node timeout, and for the
      // next refresh. Otherwise a redirection to a name that no topology contained would open
      // another connection.
      ClusterClients.eventually(
          cluster,
          Duration.ofSeconds(60),
          () -> cluster.stream().allMatch(TopologyIT::tellsEachName));
      Thread.sleep(3_000);
      List<RedisNode> masters = cluster.masters();
      for (int i = 0; i < 12; i++) {
        cluster.moveSlot(slot("{moving}"), masters.get(i % masters.size()));
        lease.extendAsync().toCompletableFuture().get();
        redlock.lock("other_{moving}", OPTIONS).acquire(WAIT).close();
      }
      Thread.sleep(1_500);
      assertThat(watch.left()).isEmpty();
      assertThat(connections()).isEqualTo(before);
      lease.close();
    }
  }

  @Test
  void announcedName_thatDoesNotResolve_isReachedByItsAddress() {
    for (RedisNode node : cluster) {
      node.command("CONFIG", "SET", "cluster-announce-hostname", "no-such-host.invalid");
      node.command("CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname");
    }
    try (Redlock redlock = ClusterClients.start(cluster.uris(), refreshing())) {
      redlock.lock("unresolved_{1}", OPTIONS).acquire(WAIT).close();
      redlock.lock("unresolved_{2}", OPTIONS).acquire(WAIT).close();
    }
  }

  @Test
  void endpointThatIsUnknown_isTheHostThatWasAsked() {
    for (RedisNode node : cluster) {
      node.command("CONFIG", "SET", "cluster-preferred-endpoint-type", "unknown-endpoint");
    }
    String one = cluster.uris().get(4).replace("127.0.0.1", "localhost"); // A replica.
    try (Redlock redlock = ClusterClients.start(List.of(one), refreshing())) {
      redlock.lock("unknown_{1}", OPTIONS).acquire(WAIT).close();
      redlock.lock("unknown_{2}", OPTIONS).acquire(WAIT).close();
    }
  }

  @Test
  void oneSeed_thatIsAConfigurationEndpoint_isEnough_andItsCredentialsServeForAll() {
    for (RedisNode node : cluster) {
      node.command("ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all");
    }
    String wrong = cluster.uris().get(0).replace("redis://", "redis://app:wrong@");
    String right = cluster.uris().get(1).replace("redis://", "redis://app:secret@");
    try (Redlock redlock = ClusterClients.start(List.of(right), refreshing())) {
      redlock.lock("seed_{1}", OPTIONS).acquire(WAIT).close();
      redlock.lock("seed_{2}", OPTIONS).acquire(WAIT).close();
    }
    // A seed that cannot log in serves its own slots only; the others follow the seed that can.
    try (Redlock redlock = ClusterClients.start(List.of(wrong, right), refreshing())) {
      String name = "";
      for (int i = 0; name.isEmpty(); i++) {
        if (cluster.masterOf("{s" + i + "}") != cluster.get(0)) {
          name = "credentials_{s" + i + "}";
        }
      }
      redlock.lock(name, OPTIONS).acquire(WAIT).close();
    }
  }

  @Test
  void failoverByHand_leasesContinue() throws Exception {
    ClusterOptions options = ClusterOptions.builder().refreshPeriod(Duration.ofSeconds(1)).build();
    try (Redlock redlock = ClusterClients.start(cluster.uris(), options);
        Redlock other = ClusterClients.start(cluster.uris(), options)) {
      Lease lease = redlock.lock("hand_{over}", OPTIONS).acquire(WAIT);
      for (int i = 0; i < 2; i++) {
        RedisNode replica = cluster.replicaOf("{over}");
        cluster.promote(replica, false);
        ClusterClients.eventually(
            cluster,
            WAIT,
            () ->
                lease
                    .extendAsync()
                    .handle((done, failure) -> failure == null)
                    .toCompletableFuture()
                    .join());
        assertThat(lease.isValid()).isTrue();
        ClusterClients.eventually(cluster, WAIT, () -> isHeld(other, "hand_{over}"));
        cluster.awaitReady();
      }
      lease.close();
      other.lock("hand_{over}", OPTIONS).acquire(WAIT).close();
    }
  }

  /** Whether the lock is held; not yet known while its client connects to the new master. */
  private static boolean isHeld(Redlock redlock, String name) {
    try {
      return redlock.lock(name, OPTIONS).tryAcquire().isEmpty();
    } catch (QuorumUnavailableException e) {
      return false;
    }
  }
}
