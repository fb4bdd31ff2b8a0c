package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.cluster.ReleaseNotices;
import dev.redlock.it.Clients;
import dev.redlock.it.contract.TestClient;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.ReplyCode;
import dev.redlock.testkit.RedisClusterNodes;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Masters die, and replicas take over with what they have. */
class FailoverIT {
  private static final Duration NODE_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final LockOptions LAZY =
      LockOptions.builder()
          .pollInterval(Duration.ofMinutes(1))
          .nodeTimeout(Duration.ofSeconds(1))
          .build();

  private static RedisClusterNodes cluster;

  @BeforeAll
  static void start() {
    cluster = RedisClusterNodes.builder().nodeTimeout(NODE_TIMEOUT).start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @AfterEach
  void heal() {
    cluster.heal();
  }

  @ParameterizedTest
  @EnumSource(
      value = ReleaseNotices.class,
      names = {"SHARDED_PUBSUB", "STREAM"})
  void masterKilled_leaseGoesOn_othersAreServedSoon_andWaitersAreStillTold(ReleaseNotices notices)
      throws Exception {
    String name = "kill_{" + notices + "}";
    List<RedlockListener.WakeUp> causes = new CopyOnWriteArrayList<>();
    RedlockListener listener =
        new RedlockListener() {
          @Override
          public void onWakeUp(List<String> names, WakeUp cause) {
            causes.add(cause);
          }
        };
    ClusterOptions options = ClusterOptions.builder().notices(notices).build();
    try (Listeners listeners = new Listeners(options, "{" + notices + "}_told");
        Redlock one = ClusterClients.start(cluster.uris(), options);
        Redlock two =
            Clients.voting(
                ClusterClients.on(cluster.uris(), options).listener(listener).build(), 1)) {
      Lease held = one.lock(name, LAZY).acquire(WAIT);
      CompletableFuture<Lease> waiting = two.lock(name, LAZY).acquireAsync(WAIT);
      RedisNode replica = cluster.replicaOf("{" + notices + "}");
      RedisNode master = cluster.masterOf("{" + notices + "}");
      ClusterClients.eventually(
          cluster,
          Duration.ofSeconds(5),
          () -> ClusterClients.stores(replica, "redlock:{" + notices + "}:kill_{}"));

      long begin = System.nanoTime();
      master.kill();
      CompletableFuture<Long> promotion = CompletableFuture.supplyAsync(() -> promoted(replica));
      try (Lease next = two.lock("next_{" + notices + "}").acquire(WAIT)) {
        long took = (System.nanoTime() - begin) / 1_000_000;
        long promoted = (promotion.get(20, TimeUnit.SECONDS) - begin) / 1_000_000;
        System.out.printf(
            "cluster: after the death of the master (%s) a replica was promoted in %d ms, and"
                + " served in %d ms%n",
            notices, promoted, took);
        // An election that found no votes in time is repeated after 4 s, and that is not our doing.
        assertThat(took).isLessThan(Math.max(NODE_TIMEOUT.toMillis() + 5_000, promoted + 3_000));
        assertThat(next.isValid()).isTrue();
      }
      ClusterClients.eventually( // The others hear of it a little later.
          cluster, Duration.ofSeconds(5), () -> cluster.masterOf("{" + notices + "}") == replica);
      ClusterClients.eventually(cluster, Duration.ofSeconds(5), () -> extended(held));
      assertThat(held.isValid()).isTrue();
      assertThat(waiting).isNotDone();

      causes.clear();
      long released = System.nanoTime();
      held.close();
      waiting.get(20, TimeUnit.SECONDS).close();
      System.out.printf(
          "cluster: a waiter from before the failover was woken in %.1f ms%n",
          (System.nanoTime() - released) / 1e6);
      // The next poll would be 5 to 15 s away.
      ClusterClients.eventually(cluster, Duration.ofSeconds(5), () -> !causes.isEmpty());
      assertThat(causes).first().isEqualTo(RedlockListener.WakeUp.HINT);
      listeners.eachHearsOfEachRelease();
    }
  }

  /**
   * Two that wait, as two processes would, and one that holds, one floor below the lock: what is
   * heard here are notices, and no pushes about the key of the lock.
   */
  private static final class Listeners implements AutoCloseable {
    private final LockKeys keys;
    private final List<TestClient> waiting = new ArrayList<>();
    private final TestClient holder;

    Listeners(ClusterOptions options, String name) {
      keys = TestClient.keys(name);
      holder = TestClient.start(ClusterLockNode.connect(cluster.uris(), options));
      for (int i = 0; i < 2; i++) {
        TestClient client = TestClient.start(ClusterLockNode.connect(cluster.uris(), options));
        client.node.waiting(keys);
        waiting.add(client);
      }
      eachHearsOfEachRelease();
    }

    /** Each of a few: one may be heard of because a connection is new. */
    void eachHearsOfEachRelease() {
      for (int i = 0; i < 3; i++) {
        String id = "holder-" + System.nanoTime();
        AtomicLong token = new AtomicLong();
        ClusterClients.eventually(
            cluster,
            Duration.ofSeconds(10),
            () -> {
              token.set(holder.now(keys));
              return holder.acquire(keys, id, token.get(), 20_000).code() == ReplyCode.GRANTED;
            });
        for (TestClient client : waiting) {
          ClusterClients.eventually(
              cluster,
              Duration.ofSeconds(10),
              () ->
                  client.acquire(keys, "refused", token.get() + 1, 1_000).code() == ReplyCode.HELD);
        }
        settle();
        waiting.forEach(client -> client.noticed.clear());
        assertThat(holder.release(keys, id, token.get()).code()).isEqualTo(ReplyCode.RELEASED);
        for (TestClient client : waiting) {
          ClusterClients.eventually(
              cluster, Duration.ofSeconds(5), () -> client.noticed.contains(keys.lockKey(0)));
        }
      }
    }

    /** Until nothing has been told for a while: subscriptions are in place. */
    private void settle() {
      long[] quietSince = {System.nanoTime()};
      int[] heard = {0};
      ClusterClients.eventually(
          cluster,
          Duration.ofSeconds(10),
          () -> {
            int now = waiting.stream().mapToInt(client -> client.noticed.size()).sum();
            if (now != heard[0]) {
              heard[0] = now;
              quietSince[0] = System.nanoTime();
            }
            return System.nanoTime() - quietSince[0] > 100_000_000;
          });
    }

    @Override
    public void close() {
      waiting.forEach(TestClient::close);
      holder.close();
    }
  }

  /** When it said that it is a master. */
  private static long promoted(RedisNode replica) {
    ClusterClients.eventually(
        cluster,
        Duration.ofSeconds(20),
        () -> replica.command("ROLE") instanceof List<?> role && role.get(0).equals("master"));
    return System.nanoTime();
  }

  /** Extends, which goes to the master that its client knows of. */
  private static boolean extended(Lease lease) {
    return lease
        .extendAsync()
        .handle((done, failure) -> failure == null)
        .toCompletableFuture()
        .join();
  }

  @Test
  void masterKilled_noticesAloneFlowAgain() throws Exception {
    try (Redlock one = ClusterClients.startDeaf(cluster, ReleaseNotices.SHARDED_PUBSUB);
        Redlock two = ClusterClients.startDeaf(cluster, ReleaseNotices.SHARDED_PUBSUB)) {
      DistributedLock lock = one.lock("deaf", LAZY);
      Lease held = lock.acquire(WAIT);
      CompletableFuture<Lease> waiting = two.lock("deaf", LAZY).acquireAsync(WAIT);
      ClusterClients.eventually(
          cluster,
          Duration.ofSeconds(5),
          () -> ClusterClients.subscribers(cluster, ReleaseNotices.SHARDED_PUBSUB, "deaf") == 1);
      RedisNode replica = cluster.replicaOf("{deaf}");

      cluster.masterOf("{deaf}").kill();

      ClusterClients.eventually(
          cluster,
          Duration.ofSeconds(15),
          () ->
              cluster.masterOf("{deaf}") == replica
                  && ClusterClients.subscribers(cluster, ReleaseNotices.SHARDED_PUBSUB, "deaf")
                      == 1);
      ClusterClients.eventually( // Or the release would wait until its client knows the new one.
          cluster, Duration.ofSeconds(5), () -> extended(held));
      assertThat(waiting).isNotDone();
      held.close();
      waiting.get(4, TimeUnit.SECONDS).close();
    }
  }

  /**
   * What the documentation says is lost: a lease that no replica has. The replica is stopped, and
   * its link reset, or it would find the lease in its socket when it runs again.
   */
  @Test
  void masterKilled_replicaWasPaused_leaseIsLost_andWithConfirmationIsNotGranted() {
    LockOptions still = LAZY.toBuilder().autoExtend(false).build();
    ClusterOptions confirmed =
        ClusterOptions.builder().confirmedBy(1, Duration.ofMillis(500)).build();
    try (Redlock one = ClusterClients.start(cluster);
        Redlock two = ClusterClients.start(cluster);
        Redlock careful = ClusterClients.start(cluster.uris(), confirmed)) {
      try (Lease lease = careful.lock("{lost}_careful", LAZY).acquire(WAIT)) {
        lease.extendAsync().toCompletableFuture().join();
        assertThat(lease.isValid()).isTrue();
      }
      RedisNode master = cluster.masterOf("{lost}");
      RedisNode replica = cluster.replicaOf("{lost}");
      replica.pause();
      master.command("CLIENT", "KILL", "TYPE", "replica");

      Lease lost = one.lock("{lost}", still).acquire(WAIT);
      assertThatThrownBy(() -> careful.lock("{lost}_careful", LAZY).tryAcquire())
          .isInstanceOf(QuorumUnavailableException.class)
          .hasMessageContaining("0 of 1 replicas confirmed");
      ClusterClients.eventually(
          cluster, Duration.ofSeconds(5), () -> master.key("redlock:{lost}:{}_careful").isEmpty());

      master.kill();
      replica.resume();
      Lease second = two.lock("{lost}", LAZY).acquire(WAIT);
      assertThat(lost.isValid()).as("both hold it: what a failover can lose").isTrue();
      assertThat(second.isValid()).isTrue();
      assertThat(second.fencingToken().value())
          .as("by the clocks of the two masters, the failover having taken longer")
          .isGreaterThan(lost.fencingToken().value());

      ClusterClients.eventually( // As soon as its client knows the new master.
          cluster,
          Duration.ofSeconds(5),
          () -> {
            lost.extendAsync().toCompletableFuture().exceptionally(failure -> null).join();
            return !lost.isValid();
          });
      assertThat(lost.whenEnded().toCompletableFuture().join()).isEqualTo(LeaseEnd.LOST);
      assertThat(second.isValid()).isTrue();
      second.close();
    }
  }

  @Test
  void promotedMaster_grantsAtOnce_orAfterQuarantineIfWanted() {
    ClusterOptions wary = ClusterOptions.builder().quarantinePromoted(true).build();
    try (Redlock plain = ClusterClients.start(cluster);
        Redlock quarantining = ClusterClients.start(cluster.uris(), wary)) {
      quarantining.lock("{promoted}", LAZY).acquire(WAIT).close();
      RedisNode replica = cluster.replicaOf("{promoted}");
      cluster.promote(replica, true);

      plain.lock("{promoted}", LAZY).acquire(WAIT).close();
      ClusterClients.eventually(
          cluster,
          Duration.ofSeconds(10),
          () -> {
            try {
              quarantining.lock("{promoted}", LAZY).tryAcquire().ifPresent(Lease::close);
              return false;
            } catch (QuorumUnavailableException e) {
              return e.getMessage().contains("was promoted");
            }
          });
    }
  }
}
