package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.redlock.Lease;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.RedlockClosedException;
import dev.redlock.RedlockListener;
import dev.redlock.harness.CapturedLog;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.operations.Diagnosis;
import dev.redlock.operations.Diagnosis.NodeFindings;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import dev.redlock.testkit.TcpGate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The identities of the configured nodes and their problems. */
@RedisTest(nodes = 3)
class NodesIT {
  private final RedisNodes nodes;

  NodesIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  private static Redlock client(String... uris) {
    return clientOf(uris).build();
  }

  private static RedlockBuilder clientOf(String... uris) {
    return Redlock.builder()
        .nodes(uris)
        .restartGuard(RestartGuard.OFF)
        .nodeTimeout(Clients.PATIENCE);
  }

  private String uri(int node) {
    return nodes.get(node).uri();
  }

  private void settled(Redlock redlock, int voting, int refused) {
    Eventually.holds(
        () ->
            count(redlock, NodeState.State.VOTING) == voting
                && redlock.operations().nodes().stream()
                        .filter(n -> n.cause().startsWith("is "))
                        .count()
                    == refused,
        nodes);
  }

  private static long count(Redlock redlock, NodeState.State state) {
    return redlock.operations().nodes().stream().filter(n -> n.state() == state).count();
  }

  private static NodeState refused(Redlock redlock) {
    return redlock.operations().nodes().stream()
        .filter(n -> n.state() == NodeState.State.QUARANTINED)
        .findFirst()
        .orElseThrow();
  }

  /** One of the two would be a member that never votes. */
  @Test
  void oneServerUnderTwoAddresses_isNoListToBeginWith_andNoQuorum() {
    String alias = uri(0).replace("127.0.0.1", "localhost");
    try (Redlock redlock = client(uri(0), alias, uri(1))) {
      String twice = "the first record cannot hold one server twice";
      Eventually.holds(
          () -> redlock.operations().nodes().stream().anyMatch(n -> n.cause().contains(twice)),
          nodes);
      assertThatThrownBy(() -> redlock.lock("two-of-three").tryAcquire())
          .hasMessageContainingAll(twice, "is the same server as", ":" + nodes.get(0).port());
    }
    // Two addresses of one server are no quorum of three.
    try (Redlock redlock = client(uri(0), alias, "redis://127.0.0.1:1")) {
      settled(redlock, 0, 1);
      assertThatThrownBy(() -> redlock.lock("one-of-three").tryAcquire())
          .hasMessageContaining("is the same server as");
    }
  }

  /** A user with the permissions of the scripts, without INFO. */
  private static String withoutInfo(RedisNode node, String host) {
    node.command("ACL", "SETUSER", "blind", "on", ">pw", "~*", "resetchannels", "+@all", "-info");
    return "redis://blind:pw@" + host + ":" + node.port();
  }

  @Test
  void oneServerUnderTwoAddresses_whereInfoIsRefused_hasOneVote() {
    RedisNode one = nodes.get(0);
    RedisNode two = nodes.get(1);
    try (Redlock redlock =
        client(
            withoutInfo(one, "127.0.0.1"),
            withoutInfo(one, "localhost"),
            withoutInfo(two, "127.0.0.1"))) {
      settled(redlock, 2, 1);
      assertThat(refused(redlock).cause()).contains("is the same server as", "INFO");
    } finally {
      one.command("ACL", "DELUSER", "blind");
      two.command("ACL", "DELUSER", "blind");
    }
  }

  @Test
  void oneServerUnderTwoAddresses_foundWhenTheSecondComesLater_andFreedWhenItLeads_elsewhere() {
    int port;
    try (TcpGate reserved = TcpGate.inFrontOf("127.0.0.1", nodes.get(0).directPort())) {
      port = reserved.port();
    }
    try (Redlock redlock = client(uri(0), uri(1), "redis://127.0.0.1:" + port)) {
      settled(redlock, 2, 0);
      try (TcpGate gate = TcpGate.inFrontOf("127.0.0.1", nodes.get(0).directPort(), port)) {
        settled(redlock, 2, 1);
        assertThat(redlock.operations().nodes().get(2).cause()).contains("is the same server as");
        assertThat(gate.connections()).isPositive();
      }
      try (TcpGate gate = TcpGate.inFrontOf("127.0.0.1", nodes.get(2).directPort(), port)) {
        settled(redlock, 3, 0);
        assertThat(gate.connections()).isPositive();
      }
    }
  }

  @Test
  void masterAndItsReplica_haveOneVote_withTheMasterNamed() {
    nodes.get(0).command("CONFIG", "SET", "repl-diskless-sync-delay", "0");
    nodes.get(1).command("REPLICAOF", "127.0.0.1", Integer.toString(nodes.get(0).directPort()));
    try (Redlock redlock = client(uri(0), uri(1), uri(2))) {
      Eventually.holds(
          () ->
              nodes
                  .get(1)
                  .command("INFO", "replication")
                  .toString()
                  .contains("master_link_status:up"),
          nodes);
      Eventually.holds(() -> count(redlock, NodeState.State.QUARANTINED) == 1, nodes);
      Eventually.holds(
          () -> {
            String cause = refused(redlock).cause();
            return cause.contains("is in one replication with") || cause.contains("is a replica");
          },
          nodes);
      try (Lease lease = redlock.lock("replicated").acquire(Duration.ofSeconds(10))) {
        assertThat(lease.isValid()).isTrue();
      }
    } finally {
      nodes.get(1).command("REPLICAOF", "NO", "ONE");
    }
  }

  @Test
  void partsOfOneCluster_areNamed_andNoMajorityIsMadeWithThem() {
    try (RedisClusterNodes cluster = RedisClusterNodes.start(2, 0);
        Redlock redlock = client(cluster.uris().get(0), cluster.uris().get(1), uri(0))) {
      Eventually.holds(
          () ->
              redlock.operations().nodes().stream()
                  .anyMatch(
                      n ->
                          n.cause().contains("is in cluster mode, and so is ")
                              && n.cause().contains(": nodes of a cluster")),
          Duration.ofSeconds(10),
          nodes);
      // The key of the marker belongs to one of the parts: the other cannot read it.
      assertThat(redlock.lock("parts").tryAcquire(Duration.ofSeconds(1))).isEmpty();
    } catch (QuorumUnavailableException e) {
      assertThat(e).hasMessageContaining("too few nodes");
    }
  }

  @Test
  void doctor_evictionReplicaAndADeadNode_reportsEach() throws Exception {
    try (Redlock redlock = Clients.patient(nodes)) {
      nodes.get(0).command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
      nodes.get(1).kill();
      Eventually.holds(() -> count(redlock, NodeState.State.VOTING) == 2, nodes);
      List<NodeFindings> found =
          redlock.operations().doctor().toCompletableFuture().get(5, TimeUnit.SECONDS).nodes();
      assertThat(found.get(0).complaints()).anyMatch(c -> c.contains("allkeys-lru"));
      assertThat(found.get(1).complaints()).anyMatch(c -> c.contains("does not vote"));
      assertThat(found.get(2).complaints()).noneMatch(c -> c.contains("does not vote"));
    } finally {
      nodes.get(0).command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }
  }

  @Test
  void doctor_memoryNearlyFull_reportsIt() {
    try (Redlock redlock = Clients.patient(nodes)) {
      assertThat(diagnosis(redlock).nodes().get(0).complaints()).noneMatch(c -> c.contains("uses"));
      nodes.get(0).command("CONFIG", "SET", "maxmemory", "1mb");
      assertThat(diagnosis(redlock).nodes().get(0).complaints())
          .anyMatch(c -> c.matches("uses \\d+ of 1048576 bytes of memory \\(maxmemory\\).*"));
      assertThat(diagnosis(redlock).nodes().get(1).complaints()).noneMatch(c -> c.contains("uses"));
    } finally {
      nodes.get(0).command("CONFIG", "SET", "maxmemory", "0");
    }
  }

  @Test
  void guardOff_isLoggedOnce_andTheGuardOn_isNot() {
    try (CapturedLog log = new CapturedLog(Level.INFO, false)) {
      Redlock.builder().nodes(uri(0)).build().close();
      assertThat(log.messages(Level.WARN)).noneMatch(m -> m.contains("guard"));
      client(uri(0), uri(1)).close();
      assertThat(log.messages(Level.WARN)).filteredOn(m -> m.contains("guard is off")).hasSize(1);
    }
  }

  @Test
  void certificateWithoutHostCheck_logsAWarning() {
    try (CapturedLog log = new CapturedLog(Level.INFO, false)) {
      client("rediss://127.0.0.1:1?verifyPeer=CA").close();
      assertThat(log.messages(Level.WARN)).anyMatch(m -> m.contains("verifyPeer=CA"));
    }
  }

  @Tag("thorough")
  @Test
  void serverThatAcceptsAndDrops_isConnectedLessAndLessOften() throws Exception {
    // A caller that polls the state may not see that the node does not vote for 20 ms.
    Semaphore voting = new Semaphore(0);
    RedlockListener watching =
        new RedlockListener() {
          @Override
          public void onNode(NodeState node) {
            voting.release(node.state() == NodeState.State.VOTING ? 1 : 0);
          }
        };
    try (TcpGate gate = TcpGate.inFrontOf("127.0.0.1", nodes.get(0).directPort());
        Redlock redlock = clientOf("redis://127.0.0.1:" + gate.port()).listener(watching).build()) {
      Eventually.holds(() -> count(redlock, NodeState.State.VOTING) == 1, nodes);
      long end = System.nanoTime() + 3_000_000_000L;
      int votes = 0;
      while (voting.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS)
          && System.nanoTime() - end < 0) {
        votes++;
        nodes.get(0).command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      }
      // Constant pauses of 20 to 40 ms would give 60 connections or more; pauses that grow to 500
      // ms give about 15.
      System.out.println("accepted and dropped in 3 s: " + votes);
      assertThat(votes).isBetween(5, 30);
    }
  }

  @Test
  void awaitReady_rightAfterBuild_theFirstTryAcquireSucceeds() {
    for (int i = 0; i < 10; i++) {
      try (Redlock redlock = client(uri(0), uri(1), uri(2))) {
        assertThat(redlock.awaitReady(Duration.ofSeconds(10))).isTrue();
        redlock.lock("at-once").tryAcquire().orElseThrow().close();
        redlock.operations().ready().toCompletableFuture().orTimeout(5, TimeUnit.SECONDS).join();
      }
    }
  }

  @Test
  void nodesStillConnecting_awaitReadyIsFalse_andTheRefusalNamesThem() {
    nodes.forEach(RedisNode::pause);
    try (Redlock redlock = client(uri(0), uri(1), uri(2))) {
      assertThat(redlock.awaitReady(Duration.ZERO)).isFalse();
      assertThatThrownBy(() -> redlock.lock("early").tryAcquire())
          .isInstanceOf(QuorumUnavailableException.class)
          .hasMessageContaining("still connecting");
      CompletableFuture<Void> ready = redlock.operations().ready().toCompletableFuture();
      assertThat(ready).isNotDone();
      redlock.close();
      assertThatThrownBy(() -> ready.orTimeout(5, TimeUnit.SECONDS).join())
          .hasCauseInstanceOf(RedlockClosedException.class);
    } finally {
      nodes.forEach(RedisNode::resume);
    }
  }

  @Test
  void acquire_begunWhileAllNodesAreStillConnecting_waitsForThem() {
    nodes.forEach(RedisNode::pause);
    try (Redlock redlock = client(uri(0), uri(1), uri(2))) {
      assertThatThrownBy(() -> redlock.lock("early").acquire(Duration.ofMillis(200)))
          .isInstanceOf(QuorumUnavailableException.class)
          .hasMessageContainingAll("still connecting", "0 rounds");
      CompletableFuture<Lease> future =
          redlock.lock("async").acquireAsync(Duration.ofSeconds(10)).toCompletableFuture();
      CompletableFuture<Lease> thread =
          CompletableFuture.supplyAsync(() -> redlock.lock("sync").acquire(Duration.ofSeconds(10)));
      nodes.forEach(RedisNode::resume);
      future.orTimeout(20, TimeUnit.SECONDS).join().close();
      thread.orTimeout(20, TimeUnit.SECONDS).join().close();
    } finally {
      nodes.forEach(RedisNode::resume);
    }
  }

  @Test
  void doctor_nodesHung_repliesWithinTheNodeTimeout() throws Exception {
    try (Redlock redlock = Clients.patient(nodes)) {
      nodes.get(2).pause();
      List<NodeFindings> found =
          redlock.operations().doctor().toCompletableFuture().get(5, TimeUnit.SECONDS).nodes();
      assertThat(found.get(2).complaints()).anyMatch(c -> c.contains("did not answer in time"));
    }
  }

  private static Diagnosis diagnosis(Redlock redlock) {
    return redlock
        .operations()
        .doctor()
        .toCompletableFuture()
        .orTimeout(5, TimeUnit.SECONDS)
        .join();
  }

  @Test
  void doctor_withoutTheGuard_acceptsOnlyAnAlwaysSyncedFile() {
    String[] policies = {"always", "everysec"};
    for (int i = 0; i < 2; i++) {
      nodes.get(i).command("CONFIG", "SET", "appendonly", "yes");
      nodes.get(i).command("CONFIG", "SET", "appendfsync", policies[i]);
    }
    try (Redlock redlock = Clients.patient(nodes)) {
      Diagnosis found = diagnosis(redlock);
      assertThat(found.restartGuard()).isEqualTo(RestartGuard.OFF);
      assertThat(found.nodes().get(0).complaints()).isEmpty();
      assertThat(found.nodes().get(0).appendFsync()).isEqualTo("always");
      assertThat(found.nodes().get(1).complaints())
          .singleElement()
          .asString()
          .contains("appendfsync is everysec");
      assertThat(found.nodes().get(2).appendOnly()).isFalse();
      assertThat(found.nodes().get(2).appendFsync()).isNotNull();
      assertThat(found.toString())
          .contains("append-only file, fsync always", "no append-only file", "master", "up for");
    } finally {
      for (int i = 0; i < 2; i++) {
        nodes.get(i).command("CONFIG", "SET", "appendonly", "no");
        nodes.get(i).command("CONFIG", "SET", "appendfsync", "no");
      }
    }
  }

  @Tag("thorough")
  @Test
  void doctor_keysWereEvicted_reportsItEvenIfThePolicyIsCorrectNow() {
    try (Redlock redlock = Clients.patient(nodes)) {
      nodes.get(1).command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
      String filler = "for i=1,20000 do redis.call('SET','filler'..i,('x'):rep(200)) end";
      nodes.get(1).command("EVAL", filler, "0");
      nodes.get(1).command("CONFIG", "SET", "maxmemory", "4mb");
      nodes.get(1).command("SET", "filler", "x");
      nodes.get(1).command("CONFIG", "SET", "maxmemory", "0");
      nodes.get(1).command("CONFIG", "SET", "maxmemory-policy", "noeviction");

      List<NodeFindings> found = diagnosis(redlock).nodes();
      assertThat(found.get(1).evictedKeys()).isPositive();
      assertThat(found.get(1).complaints()).anyMatch(c -> c.contains("has evicted"));
      assertThat(found.get(0).complaints()).noneMatch(c -> c.contains("has evicted"));
    } finally {
      nodes.get(1).command("CONFIG", "RESETSTAT");
    }
  }

  @Test
  void doctor_oneClockOff_reportsOffsetAndDirection() {
    InMemoryLockNode[] memory = new InMemoryLockNode[3];
    for (int i = 0; i < 3; i++) {
      memory[i] = InMemoryLockNode.create("memory-" + i);
    }
    memory[1].stepClock(Duration.ofMillis(-1500));
    try (Redlock redlock =
        Clients.voting(Redlock.builder().nodes(memory).restartGuard(RestartGuard.OFF).build(), 3)) {
      Eventually.holds(() -> diagnosis(redlock).nodes().get(1).clockSkew() != null, nodes);
      List<NodeFindings> found = diagnosis(redlock).nodes();
      assertThat(found.get(1).clockSkew())
          .isBetween(Duration.ofMillis(-1700), Duration.ofMillis(-1300));
      assertThat(found.get(1).complaints())
          .anyMatch(c -> c.matches("its clock is 1[3-7]\\d\\d ms behind the other.*"));
      assertThat(found.get(0).complaints()).noneMatch(c -> c.contains("clock"));
    }
  }
}
