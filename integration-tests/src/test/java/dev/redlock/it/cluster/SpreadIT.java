package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterNodes;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.harness.CapturedLog;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Clients;
import dev.redlock.it.TestTime;
import dev.redlock.operations.LockInspection;
import dev.redlock.operations.LockListing;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** One cluster as three nodes. */
class SpreadIT {
  private static final ClusterNodes SPREAD = ClusterNodes.spread(3);
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final LockOptions PATIENT =
      LockOptions.builder().nodeTimeout(Duration.ofSeconds(1)).build();

  private static RedisClusterNodes cluster;

  @BeforeAll
  static void start() {
    // No failover but those of the tests.
    cluster = RedisClusterNodes.builder().nodeTimeout(Duration.ofSeconds(15)).start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @AfterEach
  void endFaults() {
    cluster.endFaults();
  }

  private static Redlock spread() {
    return voting(3, connect(SPREAD));
  }

  private static LockNode[] connect(ClusterNodes nodes) {
    return nodes.connect(cluster.uris(), ClusterOptions.defaults());
  }

  private static Redlock single() {
    return voting(1, ClusterLockNode.connect(cluster.uris(), ClusterOptions.defaults()));
  }

  private static Redlock voting(int atLeast, LockNode... nodes) {
    return Clients.voting(
        Redlock.builder().nodes(nodes).restartGuard(RestartGuard.OFF).build(), atLeast);
  }

  private static List<RedisNode> mastersOf(String name) {
    List<RedisNode> masters = new ArrayList<>();
    SPREAD.locate(name).forEach(place -> masters.add(cluster.masterOf(place.slot())));
    return masters;
  }

  private static boolean isStored(int node, String name) {
    ClusterNodes.Place place = SPREAD.locate(name).get(node);
    return cluster.masterOf(place.slot()).key(place.lockKey()).isPresent();
  }

  private static boolean isStoredNowhere(String name) {
    return !isStored(0, name) && !isStored(1, name) && !isStored(2, name);
  }

  @Test
  void lock_isStoredOnThreeMasters_isInspected_andHandedOver() throws Exception {
    try (Redlock one = spread();
        Redlock two = spread()) {
      assertThat(mastersOf("orders:42")).doesNotHaveDuplicates().hasSize(3);
      Lease lease = one.lock("orders:42", PATIENT).acquire(WAIT);
      for (int i = 0; i < 3; i++) {
        int node = i;
        ClusterClients.eventually(cluster, WAIT, () -> isStored(node, "orders:42"));
      }
      LockInspection seen = two.operations().inspect("orders:42").toCompletableFuture().join();
      assertThat(seen.nodes()).hasSize(3);
      assertThat(seen.nodes().toString())
          .contains(
              "cluster slots 0-5460", "cluster slots 5461-10921", "cluster slots 10923-16383");

      CompletableFuture<Lease> next = two.lock("orders:42", PATIENT).acquireAsync(WAIT);
      long first = lease.fencingToken().value();
      lease.close();
      try (Lease after = next.get(10, TimeUnit.SECONDS)) {
        assertThat(after.fencingToken().value()).isGreaterThan(first);
      }
      ClusterClients.eventually(cluster, WAIT, () -> isStoredNowhere("orders:42"));
    }
  }

  @Test
  void locks_areListedOnce_withTheNumberOfNodesThatStoreThem() throws Exception {
    try (Redlock holder = spread();
        Redlock operator = spread()) {
      Map<String, Long> tokens = new HashMap<>();
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < 120; i++) {
        Lease lease =
            holder.lock(i % 2 == 0 ? "listed-" + i : "listed_{" + i + "}", PATIENT).acquire(WAIT);
        leases.add(lease);
        tokens.put(lease.names().get(0), lease.fencingToken().value());
      }
      for (String name : tokens.keySet()) {
        ClusterClients.eventually(
            cluster, WAIT, () -> isStored(0, name) && isStored(1, name) && isStored(2, name));
      }
      List<LockListing.Entry> listed = ClusterListingIT.all(operator, "listed*");
      assertThat(listed)
          .extracting(LockListing.Entry::name)
          .containsExactlyInAnyOrderElementsOf(tokens.keySet());
      assertThat(listed)
          .allSatisfy(
              lock -> {
                assertThat(lock.storedBy()).isEqualTo(3);
                assertThat(lock.highestTokenSeen()).isEqualTo(tokens.get(lock.name()));
              });
      leases.forEach(Lease::close);
      assertThat(ClusterListingIT.all(operator, "listed*")).isEmpty();
    }
  }

  @Test
  void multiLock_ofOneTag_isGranted_andOfTwoTagsIsRefusedBeforeAnythingIsSent() {
    try (Redlock redlock = spread()) {
      redlock.lock(List.of("a_{7}", "b_{7}"), PATIENT).acquire(WAIT).close();
      assertThatThrownBy(() -> redlock.lock(List.of("a", "b")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'a'")
          .hasMessageContaining("'b'")
          .hasMessageContaining("hash tag");
    }
  }

  /** {@code ShardFailuresIT} has the control: one shard alone grants twice. */
  @Test
  void failoverThatLosesTheLease_isRepaired_andNoOtherClientIsGrantedMeanwhile() throws Exception {
    try (Redlock one = spread();
        Redlock two = spread()) {
      RedisNode master = cluster.masterOf(SPREAD.locate("lost").get(1).slot());
      blockReplication(master);
      Lease held = one.lock("lost", PATIENT).acquire(WAIT);
      for (int i = 0; i < 3; i++) {
        int node = i;
        ClusterClients.eventually(cluster, WAIT, () -> isStored(node, "lost"));
      }
      DistributedLock other = two.lock("lost", PATIENT);
      failOver(master, "lost");
      ClusterClients.eventually(
          cluster,
          WAIT,
          () -> {
            assertThat(other.tryAcquire()).isEmpty();
            return isStored(1, "lost");
          });
      assertThat(other.tryAcquire()).isEmpty();
      assertThat(held.isValid()).isTrue();
      held.close();
      other.acquire(WAIT).close();
    }
  }

  private static void blockReplication(RedisNode master) {
    master.command("ACL", "SETUSER", "default", "-psync", "-sync");
    master.command("CLIENT", "KILL", "TYPE", "replica");
  }

  /** The replica does not have the lease of this name, which its master has. */
  private static void failOver(RedisNode master, String name) {
    RedisNode replica =
        cluster.stream()
            .filter(
                node ->
                    node.command("ROLE") instanceof List<?> role
                        && role.get(0).equals("slave")
                        && role.get(2).equals((long) master.port()))
            .findFirst()
            .orElseThrow();
    assertThat(ClusterClients.stores(replica, SPREAD.locate(name).get(1).lockKey())).isFalse();
    master.kill();
    cluster.promote(replica, true);
  }

  /** A master that is cut off from the others, with clients on its side. */
  @Test
  void masterAlone_grantsInOneShard_andNothingInSpread() {
    try (Redlock spread = spread();
        Redlock single = single()) {
      RedisNode alone = cluster.masterOf("{alone}");
      cluster.masters().stream().filter(node -> node != alone).forEach(RedisNode::pause);
      Optional<Lease> control = single.lock("alone", PATIENT).tryAcquire();
      assertThat(control).as("the control").isPresent();
      control.get().close();
      assertThatThrownBy(() -> spread.lock("alone", PATIENT).tryAcquire())
          .isInstanceOf(QuorumUnavailableException.class);
    }
  }

  @Test
  void twoSlotsOnOneMaster_haveOneVote_andTwoIfAllowed() {
    String name = "shared";
    int slot = SPREAD.locate(name).get(1).slot();
    RedisNode home = cluster.masterOf(slot);
    RedisNode both = cluster.masterOf(SPREAD.locate(name).get(0).slot());
    RedisNode third = cluster.masterOf(SPREAD.locate(name).get(2).slot());
    cluster.moveSlot(slot, both);
    try (CapturedLog log = new CapturedLog(Level.INFO, false);
        Redlock refusing = spread();
        Redlock allowing = voting(3, connect(SPREAD.allowSharedMasters()))) {
      assertThat(log.messages(Level.WARN).toList())
          .anyMatch(line -> line.contains("two slots on one master") && line.contains("not count"))
          .anyMatch(
              line -> line.contains("two slots on one master") && line.contains("as allowed"));
      refusing.lock(name, PATIENT).acquire(WAIT).close();
      third.pause();
      assertThatThrownBy(() -> refusing.lock(name, PATIENT).tryAcquire())
          .isInstanceOf(QuorumUnavailableException.class)
          .hasMessageContaining("one master must not have two votes")
          .hasMessageContaining("slot " + slot);
      assertThat(allowing.lock(name, PATIENT).tryAcquire())
          .as("two votes of one master")
          .isPresent();
    } finally {
      third.resume();
      cluster.moveSlot(slot, home);
    }
  }

  @Test
  void extensionByOneMasterWithTwoSlots_doesNotCount() {
    String name = "shared:held";
    int slot = SPREAD.locate(name).get(1).slot();
    RedisNode home = cluster.masterOf(slot);
    RedisNode both = cluster.masterOf(SPREAD.locate(name).get(0).slot());
    RedisNode third = cluster.masterOf(SPREAD.locate(name).get(2).slot());
    cluster.moveSlot(slot, both);
    LockOptions byHand = PATIENT.toBuilder().autoExtend(false).build();
    try (Redlock redlock = spread()) {
      Lease lease = redlock.lock(name, byHand).acquire(WAIT);
      lease.extendAsync().toCompletableFuture().join();
      third.pause();
      assertThat(
              lease.extendAsync().toCompletableFuture().handle((done, failure) -> failure).join())
          .as("two replies of one master are one vote")
          .isNotNull();
      third.resume();
      lease.close();
    } finally {
      third.resume();
      cluster.moveSlot(slot, home);
    }
  }

  /**
   * Whether the node votes or is quarantined. Others may need longer than the first that is
   * refused.
   */
  private static boolean isDecided(NodeState node) {
    return node.state() == NodeState.State.VOTING || node.state() == NodeState.State.QUARANTINED;
  }

  /** Otherwise the votes of its masters would count several times. */
  @Test
  void sameCluster_asSpreadNodesAndAsOneNode_isRefused() {
    LockNode[] nodes = connect(SPREAD);
    LockNode again = ClusterLockNode.connect(cluster.uris(), ClusterOptions.defaults());
    try (Redlock redlock = voting(1, nodes[0], nodes[1], nodes[2], again)) {
      ClusterClients.eventually(
          cluster,
          WAIT,
          () ->
              redlock.operations().nodes().stream()
                      .anyMatch(node -> String.valueOf(node.cause()).contains("same server"))
                  && redlock.operations().nodes().stream().allMatch(SpreadIT::isDecided));
      long voting = Clients.votes(redlock);
      assertThat(voting).as("the one or the other: " + redlock.operations().nodes()).isIn(1L, 3L);
    }
  }

  /** Two masters may connect at the same moment, on two threads that both ask the client. */
  @Test
  void objection_whileAnOlderQuestionIsUnanswered_stays() {
    AtomicLong askedNanos = new AtomicLong();
    AtomicBoolean objects = new AtomicBoolean();
    AtomicReference<@Nullable Runnable> whileAsked = new AtomicReference<>();
    LockNode.Listener client =
        new LockNode.Listener() {
          @Override
          public @Nullable String objection(
              LockNode node, @Nullable NodeIdentity identity, String markerId) {
            askedNanos.set(System.nanoTime());
            if (objects.get()) {
              return "refused";
            }
            Runnable newer = whileAsked.getAndSet(null);
            if (newer != null) {
              objects.set(true);
              newer.run();
            }
            return null;
          }

          @Override
          public void onStatus(LockNode node) {}

          @Override
          public void onInvalidated(LockNode node, String key) {}

          @Override
          public void onAllInvalidated(LockNode node) {}
        };
    LockNode.Context context =
        new LockNode.Context(
            Duration.ofSeconds(30), RestartGuard.OFF, "redlock", "", false, new TestTime(), client);
    LockNode[] nodes = connect(SPREAD);
    try {
      nodes[0].start(context);
      ClusterClients.eventually( // Until nothing else asks.
          cluster,
          WAIT,
          () ->
              nodes[0].status().state() == NodeStatus.State.VOTING
                  && System.nanoTime() - askedNanos.get() > TimeUnit.MILLISECONDS.toNanos(500));

      whileAsked.set(() -> nodes[2].start(context)); // Each start asks.
      nodes[1].start(context);

      assertThat(nodes[0].status().state()).isEqualTo(NodeStatus.State.QUARANTINED);
      assertThat(nodes[0].status().cause()).isEqualTo("refused");
    } finally {
      for (LockNode node : nodes) {
        node.close();
      }
    }
  }
}
