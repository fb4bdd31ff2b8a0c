package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.lettuce.LettuceLockNode;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.LockRequest.QueueEntry;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Processes that waited for a lock and died. The places are those that clients request; nothing
 * answers for them. Before the bounds of these tests, each dead process cost the living a patience
 * or more, and the time grew with the square of their number.
 */
@RedisTest(nodes = 3)
class DeadWaitersIT {
  private static final int DEAD = 100;

  /**
   * A tenth of what 100 dead processes cost before, and ten times what they cost on an idle one.
   */
  private static final Duration BOUND = Duration.ofSeconds(10);

  private static final long LONG_LIFE = 60_000;

  /** That of a client with the defaults. */
  private static final long LIFE = 4_000;

  private static final LockOptions OPTIONS =
      Clients.options().leaseTime(Duration.ofSeconds(20)).build();

  private final RedisNodes nodes;
  private int died;

  DeadWaitersIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  /**
   * Places of processes on each node, whichever is the home node; a client's own life and patience.
   * They arrived long ago: a client only estimates the clock by which it arrives.
   */
  private void die(String name, int count, long patienceMicros, long lifeMillis) {
    LockKeys keys = TestClient.keys(name);
    for (RedisNode node : nodes) {
      try (TestClient client = TestClient.start(LettuceLockNode.create(node.uri()))) {
        List<CompletableFuture<?>> queued = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          QueueEntry entry =
              new QueueEntry(
                  keys.member("dead-" + died), 1 + died, patienceMicros, lifeMillis, false);
          died++;
          queued.add(client.send(new LockRequest.Enqueue(keys, entry, 0)));
        }
        queued.forEach(CompletableFuture::join);
      }
    }
  }

  private static long millisSince(long start) {
    return (System.nanoTime() - start) / 1_000_000;
  }

  @Test
  void freeLock_behindManyDeadProcesses_isAcquiredInBoundedTime() {
    try (Redlock redlock = Clients.start(nodes)) {
      for (boolean fair : new boolean[] {false, true}) {
        DistributedLock lock = redlock.lock("dead-" + fair, OPTIONS.toBuilder().fair(fair).build());
        Lease held = lock.acquire(BOUND);
        die("dead-" + fair, DEAD, fair ? 100_000 : 25_000, LONG_LIFE);
        held.close();
        long start = System.nanoTime();
        try (Lease lease = lock.acquire(BOUND)) {
          System.out.printf("%d dead, fair=%s: %d ms%n", DEAD, fair, millisSince(start));
          assertThat(lease.isValid()).isTrue();
        }
      }
    }
  }

  /** Its poll comes after 20 s at the earliest, so the release has to wake it. */
  @Test
  void processThatWaitsBehindDeadOnes_hasTheLockBeforeItsPoll() throws Exception {
    try (Redlock holder = Clients.start(nodes);
        Redlock waiter = Clients.start(nodes)) {
      for (boolean fair : new boolean[] {false, true}) {
        String name = "behind-" + fair;
        LockOptions options =
            Clients.options()
                .leaseTime(Duration.ofSeconds(30))
                .pollInterval(Duration.ofSeconds(10))
                .fair(fair)
                .build();
        Lease held = holder.lock(name, options).acquire(BOUND);
        die(name, DEAD, fair ? 100_000 : 25_000, LONG_LIFE);
        CompletableFuture<Lease> waiting =
            waiter.lock(name, options).acquireAsync(Duration.ofMinutes(1));
        Eventually.holds(() -> nodes.stream().anyMatch(n -> queueLength(n, name) > DEAD), nodes);
        held.close();
        waiting.get(15, TimeUnit.SECONDS).close();
      }
    }
  }

  @Test
  void singleTries_behindDeadProcesses_haveTheLockAfterAFew() throws Exception {
    try (Redlock redlock = Clients.start(nodes)) {
      DistributedLock lock = redlock.lock("tried", OPTIONS);
      Lease held = lock.acquire(BOUND);
      die("tried", DEAD, 25_000, LONG_LIFE);
      held.close();
      Eventually.holds(
          () -> {
            Optional<Lease> lease = lock.tryAcquire();
            lease.ifPresent(Lease::close);
            return lease.isPresent();
          },
          BOUND,
          nodes);
    }
  }

  @Test
  void refusal_ofAFreeLock_saysThatQueuedProcessesDoNotAnswer() {
    try (Redlock redlock = Clients.start(nodes)) {
      DistributedLock lock = redlock.lock("free", OPTIONS);
      Lease held = lock.acquire(BOUND);
      die("free", 20, 30_000_000, LONG_LIFE); // So patient that this test sees no turn pass.
      held.close();
      String why = "";
      try (Lease lease = lock.acquire(Duration.ofMillis(100))) {
        assertThat(lease.isValid()).isTrue();
      } catch (LockTimeoutException e) {
        why = e.getMessage();
      }
      assertThat(why).doesNotContain("held by another client");
      assertThat(why.isEmpty() || why.contains("queued before do")).as(why).isTrue();
    }
  }

  @Test
  void queue_ofALockThatIsHeld_forgetsTheDead_andKeepsTheLiving() {
    try (Redlock holder = Clients.start(nodes);
        Redlock standby = Clients.start(nodes)) {
      Lease held = holder.lock("led", OPTIONS).acquire(BOUND);
      CompletableFuture<Lease> waiting =
          standby.lock("led", OPTIONS).acquireAsync(Duration.ofMinutes(1));
      Eventually.holds(() -> home("led").isPresent(), nodes);
      RedisNode home = home("led").get();
      for (int i = 0; i < 4; i++) {
        die("led", DEAD, 25_000, 50);
      }
      Eventually.holds(() -> queueLength(home, "led") == 1, BOUND, nodes);
      assertThat(waiting).isNotDone();
      held.close();
      waiting.join().close();
    }
  }

  /** Each enters the queue, and its connections end without a word. */
  @Test
  @Tag("thorough")
  void standby_thatCrashesAgainAndAgain_leavesNoPlaces() throws Exception {
    int rounds = Integer.getInteger("redlock.crashes", 30);
    try (Redlock holder = Clients.start(nodes);
        Redlock standby = Clients.start(nodes)) {
      Lease held = holder.lock("loop", OPTIONS).acquire(BOUND);
      CompletableFuture<Lease> waiting =
          standby.lock("loop", OPTIONS).acquireAsync(Duration.ofHours(1));
      Eventually.holds(() -> home("loop").isPresent(), nodes);
      RedisNode home = home("loop").get();
      long start = System.nanoTime();
      long longest = 0;
      for (int i = 0; i < rounds; i++) {
        die("loop", 1, 25_000, LIFE);
        longest = Math.max(longest, queueLength(home, "loop"));
      }
      System.out.printf(
          "%d crashes in %d ms: at most %d in the queue, %d at the end%n",
          rounds, millisSince(start), longest, queueLength(home, "loop"));
      Eventually.holds(() -> queueLength(home, "loop") == 1, Duration.ofSeconds(30), nodes);
      assertThat(waiting).isNotDone();
      start = System.nanoTime();
      held.close();
      waiting.get(20, TimeUnit.SECONDS).close();
      System.out.printf("the standby has the lock after %d ms%n", millisSince(start));
    }
  }

  private Optional<RedisNode> home(String name) {
    return nodes.stream().filter(node -> queueLength(node, name) > 0).findFirst();
  }

  private static long queueLength(RedisNode node, String name) {
    String queue = TestClient.keys(name).queueKey();
    return Long.parseLong(String.valueOf(node.command("ZCARD", queue)));
  }
}
