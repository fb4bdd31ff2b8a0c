package dev.redlock.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.cluster.ClusterOptions;
import dev.redlock.cluster.ClusterReleaseHints;
import dev.redlock.harness.RedisClusterNodes;
import dev.redlock.internal.WaitProbe;
import dev.redlock.internal.protocol.WakeUp;
import dev.redlock.it.Clients;
import dev.redlock.it.contract.TestClient;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.testkit.RedisNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Masters die, and replicas are promoted with the data that they have. */
@Tag("thorough")
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
  void endFaults() {
    cluster.endFaults();
  }

  @ParameterizedTest
  @EnumSource(
      value = ClusterReleaseHints.class,
      names = {"SHARDED_PUBSUB", "STREAM"})
  void masterKilled_leaseContinues_othersAreServedSoon_andWaitersReceiveHints(
      ClusterReleaseHints hints) throws Exception {
    String name = "kill_{" + hints + "}";
    List<WakeUp> causes = new CopyOnWriteArrayList<>();
    RedlockListener listener =
        new WaitProbe() {
          @Override
          public void onWakeUp(List<String> names, WakeUp cause) {
            causes.add(cause);
          }
        };
    ClusterOptions options = ClusterOptions.builder().releaseHints(hints).build();
    try (Listeners listeners = new Listeners(hints, options, "{" + hints + "}_told");
        Redlock one = ClusterClients.start(cluster.uris(), options);
        Redlock two =
            Clients.voting(
                ClusterClients.on(cluster.uris(), options).listener(listener).build(), 1)) {
      Lease held = one.lock(name, LAZY).acquire(WAIT);
      CompletableFuture<Lease> waiting = two.lock(name, LAZY).acquireAsync(WAIT);
      RedisNode replica = cluster.replicaOf("{" + hints + "}");
      RedisNode master = cluster.masterOf("{" + hints + "}");
      ClusterClients.eventually(
          cluster,
          Duration.ofSeconds(5),
          () -> ClusterClients.stores(replica, "redlock:{" + hints + "}:kill_{}"));

      long begin = System.nanoTime();
      master.kill();
      CompletableFuture<Long> promotion = CompletableFuture.supplyAsync(() -> promoted(replica));
      try (Lease next = two.lock("next_{" + hints + "}").acquire(WAIT)) {
        long took = (System.nanoTime() - begin) / 1_000_000;
        long promoted = (promotion.get(20, TimeUnit.SECONDS) - begin) / 1_000_000;
        System.out.printf(
            "cluster: after the death of the master (%s) a replica was promoted in %d ms, and"
                + " served in %d ms%n",
            hints, promoted, took);
        // A replica repeats a failed election after 4 s; the library cannot influence that.
        assertThat(took).isLessThan(Math.max(NODE_TIMEOUT.toMillis() + 5_000, promoted + 3_000));
        assertThat(next.isValid()).isTrue();
      }
      ClusterClients.eventually( // The other nodes learn of it a little later.
          cluster, Duration.ofSeconds(5), () -> cluster.masterOf("{" + hints + "}") == replica);
      ClusterClients.eventually(cluster, Duration.ofSeconds(5), () -> extended(held));
      assertThat(held.isValid()).isTrue();
      // The waiter may still pause, because the old master did not reply. If the release comes
      // during a pause, the waiter learns of it without a hint, when the pause ends. The longest
      // pause is 1.5 s.
      awaitQuiet(causes::size, Duration.ofSeconds(2), Duration.ofSeconds(15));
      assertThat(waiting).isNotDone();

      causes.clear();
      long released = System.nanoTime();
      held.close();
      waiting.get(20, TimeUnit.SECONDS).close();
      System.out.printf(
          "cluster: a waiter from before the failover was woken in %.1f ms%n",
          (System.nanoTime() - released) / 1e6);
      // The next poll comes after 5 to 15 s.
      ClusterClients.eventually(cluster, Duration.ofSeconds(5), () -> !causes.isEmpty());
      assertThat(causes).first().isEqualTo(WakeUp.HINT);
      listeners.eachHearsOfEachRelease();
    }
  }

  /**
   * Two waiters, like two processes, and one holder, on nodes without a lock. The listeners receive
   * release hints here, no invalidations of the lock key.
   */
  private static final class Listeners implements AutoCloseable {
    private final ClusterReleaseHints hints;
    private final String name;
    private final LockKeys keys;
    private final List<TestClient> waiting = new ArrayList<>();
    private final TestClient holder;

    Listeners(ClusterReleaseHints hints, ClusterOptions options, String name) {
      this.hints = hints;
      this.name = name;
      keys = TestClient.keys(name);
      holder = TestClient.start(ClusterLockNode.connect(cluster.uris(), options));
      for (int i = 0; i < 2; i++) {
        TestClient client = TestClient.start(ClusterLockNode.connect(cluster.uris(), options));
        client.node.waiting(keys);
        waiting.add(client);
      }
      eachHearsOfEachRelease();
    }

    /** Tries several names: a new connection alone may produce one hint. */
    void eachHearsOfEachRelease() {
      for (int i = 0; i < 3; i++) {
        String id = "holder-" + System.nanoTime();
        AtomicLong token = new AtomicLong();
        ClusterClients.eventually(
            cluster,
            Duration.ofSeconds(10),
            () -> {
              token.set(holder.now(keys));
              return holder.acquire(keys, id, token.get(), 20_000).code() == Code.GRANTED;
            });
        for (TestClient client : waiting) {
          ClusterClients.eventually(
              cluster,
              Duration.ofSeconds(10),
              () -> client.acquire(keys, "refused", token.get() + 1, 1_000).code() == Code.HELD);
        }
        awaitSubscriptions();
        waiting.forEach(client -> client.hinted.clear());
        assertThat(holder.release(keys, id, token.get()).code()).isEqualTo(Code.RELEASED);
        for (TestClient client : waiting) {
          ClusterClients.eventually(
              cluster, Duration.ofSeconds(5), () -> client.hinted.contains(keys.lockKey(0)));
        }
      }
    }

    /**
     * A hint that is published before the client has subscribed is lost; invalidations cover that
     * gap. A stream loses none. A new subscription may produce a hint of its own.
     */
    private void awaitSubscriptions() {
      if (hints == ClusterReleaseHints.SHARDED_PUBSUB) {
        ClusterClients.eventually(
            cluster,
            Duration.ofSeconds(10),
            () -> ClusterClients.subscribers(cluster, hints, name) == waiting.size());
      }
      awaitQuiet(
          () -> waiting.stream().mapToInt(client -> client.hinted.size()).sum(),
          Duration.ofMillis(100),
          Duration.ofSeconds(10));
    }

    @Override
    public void close() {
      waiting.forEach(TestClient::close);
      holder.close();
    }
  }

  /** Waits until this number has not changed for so long. */
  private static void awaitQuiet(IntSupplier events, Duration quiet, Duration within) {
    long[] since = {System.nanoTime()};
    int[] seen = {events.getAsInt()};
    ClusterClients.eventually(
        cluster,
        within,
        () -> {
          int now = events.getAsInt();
          if (now != seen[0]) {
            seen[0] = now;
            since[0] = System.nanoTime();
          }
          return System.nanoTime() - since[0] > quiet.toNanos();
        });
  }

  /** The time at which it reported that it is a master. */
  private static long promoted(RedisNode replica) {
    ClusterClients.eventually(
        cluster,
        Duration.ofSeconds(20),
        () -> replica.command("ROLE") instanceof List<?> role && role.get(0).equals("master"));
    return System.nanoTime();
  }

  /** Extends, which sends a request to the master that the client knows. */
  private static boolean extended(Lease lease) {
    return lease
        .extendAsync()
        .handle((done, failure) -> failure == null)
        .toCompletableFuture()
        .join();
  }

  @Test
  void masterKilled_releaseHintsAloneFlowAgain() throws Exception {
    try (Redlock one = ClusterClients.startDeaf(cluster, ClusterReleaseHints.SHARDED_PUBSUB);
        Redlock two = ClusterClients.startDeaf(cluster, ClusterReleaseHints.SHARDED_PUBSUB)) {
      DistributedLock lock = one.lock("deaf", LAZY);
      Lease held = lock.acquire(WAIT);
      CompletableFuture<Lease> waiting = two.lock("deaf", LAZY).acquireAsync(WAIT);
      ClusterClients.eventually(
          cluster,
          Duration.ofSeconds(5),
          () ->
              ClusterClients.subscribers(cluster, ClusterReleaseHints.SHARDED_PUBSUB, "deaf") == 1);
      RedisNode replica = cluster.replicaOf("{deaf}");

      cluster.masterOf("{deaf}").kill();

      ClusterClients.eventually(
          cluster,
          Duration.ofSeconds(15),
          () ->
              cluster.masterOf("{deaf}") == replica
                  && ClusterClients.subscribers(cluster, ClusterReleaseHints.SHARDED_PUBSUB, "deaf")
                      == 1);
      ClusterClients
          .eventually( // Otherwise the release would wait until the client knows the new master.
              cluster, Duration.ofSeconds(5), () -> extended(held));
      assertThat(waiting).isNotDone();
      held.close();
      waiting.get(4, TimeUnit.SECONDS).close();
    }
  }

  /**
   * The loss that the documentation describes: a lease that no replica has. The test pauses the
   * replica and resets its connection; otherwise the replica would read the lease from its socket
   * when it resumes.
   */
  @Test
  void masterKilled_replicaWasPaused_leaseIsLost() {
    LockOptions still = LAZY.toBuilder().autoExtend(false).build();
    for (RedisNode node : cluster) {
      node.command("ACL", "SETUSER", "slow", "on", "nopass", "~*", "&*", "+@all");
    }
    List<String> slow =
        cluster.uris().stream().map(uri -> uri.replace("redis://", "redis://slow:any@")).toList();
    try (Redlock one = ClusterClients.start(slow, ClusterOptions.defaults());
        Redlock two = ClusterClients.start(cluster)) {
      RedisNode master = cluster.masterOf("{lost}");
      RedisNode replica = cluster.replicaOf("{lost}");
      // The holder learns of the new master as soon as the others do. If it came first, it would
      // store its lease again, and nothing would be lost.
      replica.command("ACL", "SETUSER", "slow", "-eval", "-evalsha");
      replica.pause();
      master.command("CLIENT", "KILL", "TYPE", "replica");

      Lease lost = one.lock("{lost}", still).acquire(WAIT);
      master.kill();
      replica.resume();
      Lease second = two.lock("{lost}", LAZY).acquire(WAIT);
      assertThat(lost.isValid()).as("both hold it: what a failover can lose").isTrue();
      assertThat(second.isValid()).isTrue();
      assertThat(second.fencingToken().value())
          .as("by the clocks of the two masters, the failover having taken longer")
          .isGreaterThan(lost.fencingToken().value());

      replica.command("ACL", "SETUSER", "slow", "+@all");
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
