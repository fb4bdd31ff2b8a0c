package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A lease from its grant to each of its ends. */
@RedisTest(nodes = 5)
class LeaseIT {
  private static final Duration WAIT = Duration.ofSeconds(5);

  private final RedisNodes nodes;
  private Redlock redlock;

  LeaseIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @BeforeEach
  void connect() {
    redlock = Clients.patient(nodes);
  }

  @AfterEach
  void disconnect() {
    redlock.close();
  }

  private static LockOptions.Builder brief() {
    return leasing(1500);
  }

  /** At least 3 s if the lease is extended: a pause of the machine must not end it. */
  private static LockOptions.Builder leasing(long millis) {
    return Clients.options().leaseTime(Duration.ofMillis(millis));
  }

  @Test
  void lease_extendedAutomatically_outlivesItsLeaseTime() throws Exception {
    try (Lease lease = redlock.lock("long", leasing(3000).build()).acquire(WAIT)) {
      long end = System.nanoTime() + Duration.ofSeconds(5).toNanos();
      Eventually.holds(
          () -> {
            lease.ensureValid();
            return System.nanoTime() - end > 0;
          },
          Duration.ofSeconds(20),
          nodes);
    }
  }

  @Test
  void lease_notExtended_expiresAndReportsItByItsDeadline() throws Exception {
    long best = Long.MAX_VALUE;
    for (int run = 0; run < 3; run++) {
      Lease lease = redlock.lock("brief", brief().autoExtend(false).build()).acquire(WAIT);
      long deadline = System.nanoTime() + lease.remainingValidity().toNanos();
      CompletableFuture<Long> endedAt =
          lease.whenEnded().thenApply(end -> System.nanoTime()).toCompletableFuture();
      assertThat(lease.whenEnded().toCompletableFuture().get(5, TimeUnit.SECONDS))
          .isEqualTo(LeaseEnd.EXPIRED);
      best = Math.min(best, endedAt.get() - deadline);
      assertThat(lease.isValid()).isFalse();
      assertThatThrownBy(lease::ensureValid)
          .isInstanceOfSatisfying(
              LeaseLostException.class, e -> assertThat(e.end()).isEqualTo(LeaseEnd.EXPIRED));
      lease.close(); // Does not throw for a lease that has ended.
      lease.releaseAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
    }
    assertThat(best).as("ns after the deadline, best of three").isLessThan(50_000_000L);
  }

  @Test
  void lease_extendedByHand_movesItsDeadline() throws Exception {
    LockOptions byHand = leasing(3000).autoExtend(false).build();
    try (Lease lease = redlock.lock("hand", byHand).acquire(WAIT)) {
      Eventually.holds(() -> lease.remainingValidity().toMillis() < 2500, nodes);
      long before = System.nanoTime() + lease.remainingValidity().toNanos();
      lease.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
      long after = lease.remainingValidity().toNanos() + System.nanoTime();
      // The validity grows by the elapsed time of the lease, and by less than one whole lease time.
      assertThat(Duration.ofNanos(after - before))
          .isBetween(Duration.ofMillis(400), Duration.ofMillis(3000));
    }
  }

  @Test
  void lease_atItsCap_endsAsCapReached() throws Exception {
    long asked = System.nanoTime();
    Lease lease =
        redlock.lock("capped", leasing(3000).holdCap(Duration.ofSeconds(4)).build()).acquire(WAIT);
    long granted = System.nanoTime();
    assertThat(lease.whenEnded().toCompletableFuture().get(10, TimeUnit.SECONDS))
        .isEqualTo(LeaseEnd.CAP_REACHED);
    long ended = System.nanoTime();
    assertThat(Duration.ofNanos(ended - asked)).isGreaterThanOrEqualTo(Duration.ofMillis(3800));
    assertThat(Duration.ofNanos(ended - granted)).isLessThanOrEqualTo(Duration.ofSeconds(6));
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, "capped"), nodes);
    }
  }

  @Test
  void lease_keyTakenByAnotherOnAQuorum_endsAsLost() throws Exception {
    Lease lease = redlock.lock("taken", leasing(3000).build()).acquire(WAIT);
    for (int i = 0; i < 3; i++) {
      nodes.get(i).command("SET", Clients.lockKey("taken"), "another", "PX", "5000");
    }
    assertThat(lease.whenEnded().toCompletableFuture().get(5, TimeUnit.SECONDS))
        .isEqualTo(LeaseEnd.LOST);
    assertThat(nodes.get(0).command("GET", Clients.lockKey("taken"))).isEqualTo("another");
    for (int i = 0; i < 3; i++) {
      nodes.get(i).command("DEL", Clients.lockKey("taken"));
    }
  }

  @Test
  void lease_keysDeletedOnAMinority_areRepaired() {
    try (Lease lease = redlock.lock("repaired").acquire(WAIT)) {
      Eventually.holds(() -> nodes.stream().allMatch(n -> Clients.holdsKey(n, "repaired")), nodes);
      // Do not wait for the deletion: the holder may repair the key at once after the invalidation.
      nodes.get(0).command("PEXPIRE", Clients.lockKey("repaired"), "1");
      nodes.get(3).command("DEL", Clients.lockKey("repaired"));
      lease.extendAsync().toCompletableFuture().join();
      Eventually.holds(() -> nodes.stream().allMatch(n -> Clients.holdsKey(n, "repaired")), nodes);
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void tokens_ofSuccessiveLeases_increase() {
    long last = 0;
    for (int i = 0; i < 100; i++) {
      try (Lease lease = redlock.lock("tokens").acquire(WAIT)) {
        assertThat(lease.fencingToken().value()).isGreaterThan(last);
        last = lease.fencingToken().value();
      }
    }
  }

  @Test
  void multiLock_oneNameHeld_isAllOrNothing() {
    DistributedLock both = redlock.lock(List.of("b", "a", "b"));
    assertThat(both.names()).containsExactly("a", "b");
    try (Lease b = redlock.lock("b").acquire(WAIT)) {
      assertThat(both.tryAcquire()).isEmpty();
      assertThat(redlock.lock("a").tryAcquire()).isPresent().get().satisfies(l -> l.close());
    }
    try (Lease lease = both.acquire(WAIT)) {
      assertThat(redlock.lock("a").tryAcquire()).isEmpty();
      assertThat(redlock.lock("b").tryAcquire()).isEmpty();
      assertThat(lease.names()).containsExactly("a", "b");
    }
  }

  /** The extension checks after each test that no key remains. */
  @Test
  void close_thousandsOfAttemptsUnderWay_freesWhatTheyLeave() {
    Redlock busy = Clients.patient(nodes);
    for (int i = 0; i < 1_500; i++) {
      busy.lock("under-way:" + i).tryAcquireAsync();
    }
    busy.close();
    // Close waits for a quorum only; the keys would live for another 30 s.
    Eventually.holds(
        () -> nodes.get(0).keys().stream().noneMatch(key -> key.name().endsWith("}")), nodes);
  }

  @Test
  void multiLock_waitingForOneOfItsNames_isWokenByItsRelease() throws Exception {
    LockOptions lazy = Clients.options().pollInterval(Duration.ofMinutes(1)).build();
    Lease a = redlock.lock("a").acquire(WAIT);
    CompletableFuture<Lease> both =
        redlock.lock(List.of("a", "b"), lazy).acquireAsync(Duration.ofSeconds(30));
    Eventually.holds(() -> Clients.isWanted(nodes, "a"), nodes);
    long start = System.nanoTime();
    a.close();
    try (Lease lease = both.get(30, TimeUnit.SECONDS)) {
      // The poll comes after 5 s at the earliest.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(4));
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void minimumHold_releasedSooner_keepsOthersOut() throws Exception {
    DistributedLock lock =
        redlock.lock("atleast", leasing(6000).minimumHold(Duration.ofMillis(1500)).build());
    long start = System.nanoTime();
    Lease first = lock.acquire(WAIT);
    first.close();
    assertThat(first.isValid()).isFalse();
    assertThat(lock.tryAcquire()).isEmpty();
    lock.acquire(WAIT).close();
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofMillis(1495), Duration.ofMillis(4500));
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, "atleast"), nodes);
    }
  }

  @Test
  void acquireAsync_cancelled_leavesNothing() {
    try (Lease held = redlock.lock("cancel").acquire(WAIT)) {
      CompletableFuture<Lease> later = redlock.lock("cancel").acquireAsync(WAIT);
      later.cancel(true);
      assertThat(held.isValid()).isTrue();
    }
    for (int i = 0; i < 50; i++) {
      CompletableFuture<Lease> later = redlock.lock("cancel").acquireAsync(WAIT);
      if (!later.cancel(true)) {
        later.join().close(); // The grant was faster, so the caller owns the lease.
      }
    }
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, "cancel"), nodes);
    }
    redlock.lock("cancel").acquire(WAIT).close();
  }

  @Test
  void acquire_interrupted_keepsTheFlagAndLeavesNothing() throws Exception {
    try (Lease held = redlock.lock("interrupt").acquire(WAIT)) {
      CompletableFuture<Boolean> flag = new CompletableFuture<>();
      Thread waiter =
          new Thread(
              () -> {
                try {
                  redlock.lock("interrupt").acquire(WAIT).close();
                  flag.complete(false);
                } catch (dev.redlock.RedlockInterruptedException e) {
                  flag.complete(Thread.currentThread().isInterrupted());
                }
              });
      waiter.start();
      Eventually.holds(() -> waiter.getState() == Thread.State.WAITING, nodes);
      waiter.interrupt();
      assertThat(flag.get(5, TimeUnit.SECONDS)).isTrue();
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void withLock_leaseExpiresInBody_reportsTheLoss() {
    DistributedLock lock = redlock.lock("slow", brief().autoExtend(false).build());
    assertThatThrownBy(
            () ->
                lock.withLock(
                    WAIT,
                    lease -> {
                      Eventually.holds(() -> !lease.isValid(), nodes);
                      throw new IllegalStateException("of the body");
                    }))
        .isInstanceOf(LeaseLostException.class)
        .hasSuppressedException(new IllegalStateException("of the body"));
  }

  @Test
  void futures_areNeverCompletedOnThreadsOfNettyOrTimers() throws Exception {
    Set<String> threads = ConcurrentHashMap.newKeySet();
    DistributedLock lock = redlock.lock("threads");
    for (int i = 0; i < 100; i++) {
      CompletableFuture<Void> all =
          lock.acquireAsync(WAIT)
              .thenCompose(
                  lease -> {
                    note(threads);
                    lease.whenEnded().thenRun(() -> note(threads));
                    return lease
                        .extendAsync()
                        .thenRun(() -> note(threads))
                        .thenCompose(extended -> lease.releaseAsync())
                        .thenRun(() -> note(threads));
                  });
      all.get(5, TimeUnit.SECONDS);
    }
    Lease left = redlock.lock("threads", brief().autoExtend(false).build()).acquire(WAIT);
    CompletableFuture<Void> expired =
        left.whenEnded().thenRun(() -> note(threads)).toCompletableFuture();
    CompletableFuture<Void> refused =
        lock.tryAcquireAsync().thenRun(() -> note(threads)).toCompletableFuture();
    expired.get(5, TimeUnit.SECONDS);
    refused.get(5, TimeUnit.SECONDS);
    System.out.println("futures are completed on " + threads);
    assertThat(threads).anyMatch(name -> name.startsWith("redlock-callback"));
    assertThat(threads)
        .noneMatch(name -> name.startsWith("lettuce") || name.startsWith("redlock-timer"));
  }

  private static void note(Set<String> threads) {
    threads.add(Thread.currentThread().getName());
  }

  @Test
  void close_withLeasesAndWaiters_releasesAndRefuses() {
    redlock.lock("closing").acquire(WAIT);
    CompletableFuture<Lease> waiter = redlock.lock("closing").acquireAsync(WAIT);
    redlock.close();
    Eventually.holds(waiter::isCompletedExceptionally, nodes);
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, "closing"), nodes);
    }
    assertThatThrownBy(() -> redlock.lock("closing").tryAcquire())
        .isInstanceOf(dev.redlock.RedlockClosedException.class);
  }
}
