package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.it.Clients;
import dev.redlock.spi.LockKeys;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Locks in a slot whose keys move one after another. The tests stop between two keys: with many
 * keys in the slot, lock key and fence key move seconds apart, in either order.
 */
class HalfMovedSlotIT {
  private static final Duration WAIT = Duration.ofSeconds(10);
  private static final String NAME = "half_{moved}";
  private static final int SLOT = RedisClusterNodes.slot("{moved}");
  private static final LockOptions OPTIONS =
      LockOptions.builder().nodeTimeout(Duration.ofSeconds(1)).autoExtend(false).build();

  private static RedisClusterNodes cluster;
  private RedisNode from;
  private RedisNode to;

  @BeforeAll
  static void start() {
    cluster = RedisClusterNodes.builder().replicas(3).nodeTimeout(Duration.ofSeconds(15)).start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  /** Completes the move. Fails if a key exists on both masters: the target refuses it. */
  @AfterEach
  void close() {
    if (to != null) {
      cluster.moveKeys(SLOT, from, to);
      assertThat(keysIn(from)).isEmpty();
      cluster.closeSlot(SLOT, to);
    }
  }

  private void open() {
    from = cluster.masterOf(SLOT);
    to = cluster.masters().stream().filter(master -> master != from).findFirst().orElseThrow();
    cluster.openSlot(SLOT, from, to);
  }

  private void move(String key) {
    Object moved = from.command("MIGRATE", "127.0.0.1", "" + to.directPort(), key, "0", "5000");
    assertThat(moved).as(key).isEqualTo("OK");
  }

  private static List<?> keysIn(RedisNode node) {
    return (List<?>) node.command("CLUSTER", "GETKEYSINSLOT", "" + SLOT, "100");
  }

  private static String key(String name, String suffix) {
    return LockKeys.of("redlock", List.of(name)).lockKey(0) + suffix;
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ":fence"})
  void heldLease_oneOfItsKeysMoved_isExtendedAndReleased(String suffix) throws Exception {
    try (Redlock redlock = ClusterClients.start(cluster)) {
      DistributedLock lock = redlock.lock(NAME, OPTIONS);
      Lease lease = lock.acquire(WAIT);
      open();
      move(key(NAME, suffix));
      Thread.sleep(200);
      // A pause between the two readings makes the deadline before earlier, and the one after
      // later.
      long before = System.nanoTime() + lease.remainingValidity().toNanos();
      lease.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
      assertThat(lease.remainingValidity().toNanos() + System.nanoTime()).isGreaterThan(before);
      assertThat(lock.tryAcquire()).as("while it is held").isEmpty();
      lease.close();
      assertThat(lease.whenEnded().toCompletableFuture().get(5, TimeUnit.SECONDS))
          .hasToString("RELEASED");
      try (Lease next = lock.acquire(WAIT)) {
        assertThat(next.fencingToken().value()).isGreaterThan(lease.fencingToken().value());
      }
      assertThat(ClusterClients.stores(from, key(NAME, ""))).isFalse();
      assertThat(ClusterClients.stores(to, key(NAME, ""))).isFalse();
    }
  }

  @Test
  void newName_whileTheSlotMoves_isGrantedOnTheTarget() throws Exception {
    open();
    long best = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      String name = "new" + i + "_{moved}";
      try (Redlock redlock = ClusterClients.start(cluster);
          Redlock other = ClusterClients.start(cluster)) {
        long begin = System.nanoTime();
        Lease lease = redlock.lock(name, OPTIONS).acquire(WAIT);
        best = Math.min(best, (System.nanoTime() - begin) / 1_000_000);
        assertThat(ClusterClients.stores(to, key(name, ""))).isTrue();
        assertThat(other.lock(name, OPTIONS).tryAcquire()).isEmpty();
        lease.close();
        try (Lease next = other.lock(name, OPTIONS).acquire(WAIT)) {
          assertThat(next.fencingToken().value()).isGreaterThan(lease.fencingToken().value());
        }
      }
    }
    assertThat(best).as("ms, the best of three new clients").isLessThan(1_000);
  }

  @Test
  void lease_takenWhileTheSlotMoves_excludesOthersAfterTheMove() throws Exception {
    open();
    try (Redlock redlock = ClusterClients.start(cluster);
        Redlock other = ClusterClients.start(cluster)) {
      Lease lease = redlock.lock("kept_{moved}", OPTIONS).acquire(WAIT);
      close();
      to = null;
      assertThat(other.lock("kept_{moved}", OPTIONS).tryAcquire()).isEmpty();
      lease.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
      lease.close();
      other.lock("kept_{moved}", OPTIONS).acquire(WAIT).close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ":fence"})
  void waiter_holderReleasesWhileTheSlotMoves_isServed(String suffix) throws Exception {
    try (Redlock redlock = ClusterClients.start(cluster);
        Redlock other = ClusterClients.start(cluster)) {
      Lease lease = redlock.lock(NAME, OPTIONS).acquire(WAIT);
      CompletableFuture<Lease> waiting = other.lock(NAME, OPTIONS).acquireAsync(WAIT);
      ClusterClients.eventually(
          cluster,
          WAIT,
          () -> ClusterClients.stores(cluster.masterOf(SLOT), key(NAME, ":1:queue")));
      open();
      move(key(NAME, suffix));
      assertThat(waiting).isNotDone();
      lease.close();
      try (Lease next = waiting.get(3, TimeUnit.SECONDS)) {
        assertThat(next.fencingToken().value()).isGreaterThan(lease.fencingToken().value());
      }
    }
  }

  @ParameterizedTest
  @EnumSource(ClusterReleaseHints.class)
  void release_lockAndFenceMovedBeforeTheHints_makesNoKeyBesideAnOldOne(ClusterReleaseHints hints)
      throws Exception {
    String name = "hints_" + hints + "_{moved}";
    try (Redlock redlock = ClusterClients.start(cluster, hints);
        Redlock other = ClusterClients.start(cluster, hints)) {
      redlock.lock(name, OPTIONS).acquire(WAIT).close(); // With STREAM this makes the stream.
      Lease lease = redlock.lock(name, OPTIONS).acquire(WAIT);
      CompletableFuture<Lease> waiting = other.lock(name, OPTIONS).acquireAsync(WAIT);
      ClusterClients.eventually(
          cluster,
          WAIT,
          () -> ClusterClients.stores(cluster.masterOf(SLOT), key(name, ":1:queue")));
      open();
      move(key(name, ""));
      move(key(name, ":fence"));
      lease.close();
      waiting.get(3, TimeUnit.SECONDS).close();
      for (Object left : keysIn(from)) {
        assertThat(ClusterClients.stores(to, String.valueOf(left))).as(left + " twice").isFalse();
      }
    }
  }

  @Test
  void lockOnSeveralNames_theirKeysOnTwoMasters_isAcquiredExtendedAndReleased() throws Exception {
    List<String> names = List.of("a_{moved}", "b_{moved}", "c_{moved}");
    try (Redlock redlock = ClusterClients.start(cluster);
        Redlock other = ClusterClients.start(cluster)) {
      Lease lease = redlock.lock(names, OPTIONS).acquire(WAIT);
      open();
      move(key("b_{moved}", ""));
      move(key("c_{moved}", ":fence"));
      lease.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
      assertThat(other.lock("b_{moved}", OPTIONS).tryAcquire()).isEmpty();
      assertThat(other.lock(List.of("b_{moved}", "d_{moved}"), OPTIONS).tryAcquire()).isEmpty();
      other.lock("d_{moved}", OPTIONS).acquire(WAIT).close(); // Nothing of it was left behind.
      lease.close();
      try (Lease next = other.lock(names, OPTIONS).acquire(WAIT)) {
        assertThat(next.fencingToken().value()).isGreaterThan(lease.fencingToken().value());
      }
    }
  }

  @Test
  void operator_whileTheSlotMoves_inspectsAndBreaksTheLock() throws Exception {
    try (Redlock redlock = ClusterClients.start(cluster)) {
      Lease lease = redlock.lock(NAME, OPTIONS).acquire(WAIT);
      open();
      move(key(NAME, ""));
      assertThat(Clients.done(redlock.operations().inspect(NAME)).nodes())
          .allSatisfy(
              node -> {
                assertThat(node.holder()).isNotNull();
                assertThat(node.highestTokenSeen()).isEqualTo(lease.fencingToken().value());
              });
      redlock.operations().breakLock(NAME).toCompletableFuture().get(5, TimeUnit.SECONDS);
      assertThatThrownBy(() -> lease.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS))
          .hasCauseInstanceOf(LeaseLostException.class);
      redlock.lock(NAME, OPTIONS).acquire(WAIT).close();
    }
  }
}
