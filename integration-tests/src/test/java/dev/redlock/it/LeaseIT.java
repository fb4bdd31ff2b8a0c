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
import java.util.concurrent.CompletableFuture;
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
    redlock = Clients.start(nodes);
  }

  @AfterEach
  void disconnect() {
    redlock.close();
  }

  private static LockOptions.Builder brief() {
    return LockOptions.builder().leaseTime(Duration.ofMillis(600));
  }

  @Test
  void lease_extendedAutomatically_outlivesItsLeaseTime() throws Exception {
    try (Lease lease = redlock.lock("long", brief().build()).acquire(WAIT)) {
      long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
      Eventually.holds(
          () -> {
            lease.ensureValid();
            return System.nanoTime() - end > 0;
          },
          nodes);
    }
  }

  @Test
  void lease_notExtended_expiresAndSaysSoNoLaterThanItsDeadline() throws Exception {
    Lease lease = redlock.lock("brief", brief().autoExtend(false).build()).acquire(WAIT);
    long deadline = System.nanoTime() + lease.remainingValidity().toNanos();
    CompletableFuture<Long> endedAt =
        lease.whenEnded().thenApply(end -> System.nanoTime()).toCompletableFuture();
    assertThat(lease.whenEnded().toCompletableFuture().get(2, TimeUnit.SECONDS))
        .isEqualTo(LeaseEnd.EXPIRED);
    assertThat(endedAt.get() - deadline).as("ns after the deadline").isLessThan(50_000_000L);
    assertThat(lease.isValid()).isFalse();
    assertThatThrownBy(lease::ensureValid)
        .isInstanceOfSatisfying(
            LeaseLostException.class, e -> assertThat(e.end()).isEqualTo(LeaseEnd.EXPIRED));
    lease.close(); // Never throws for a lease that has ended.
    lease.releaseAsync().toCompletableFuture().get(1, TimeUnit.SECONDS);
  }

  @Test
  void lease_extendedByHand_movesItsDeadline() throws Exception {
    try (Lease lease = redlock.lock("hand", brief().autoExtend(false).build()).acquire(WAIT)) {
      Eventually.holds(() -> lease.remainingValidity().toMillis() < 400, nodes);
      lease.extendAsync().toCompletableFuture().get(1, TimeUnit.SECONDS);
      assertThat(lease.remainingValidity().toMillis()).isGreaterThan(450);
    }
  }

  @Test
  void lease_atItsCap_endsAsCapReached() throws Exception {
    Lease lease =
        redlock.lock("capped", brief().holdCap(Duration.ofMillis(1500)).build()).acquire(WAIT);
    long start = System.nanoTime();
    assertThat(lease.whenEnded().toCompletableFuture().get(4, TimeUnit.SECONDS))
        .isEqualTo(LeaseEnd.CAP_REACHED);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofMillis(1300), Duration.ofMillis(1700));
    for (RedisNode node : nodes) {
      Eventually.holds(() -> !Clients.holdsKey(node, "capped"), nodes);
    }
  }

  @Test
  void lease_keyTakenByAnotherOnAQuorum_endsAsLost() throws Exception {
    Lease lease = redlock.lock("taken", brief().build()).acquire(WAIT);
    for (int i = 0; i < 3; i++) {
      nodes.get(i).command("SET", Clients.lockKey("taken"), "another", "PX", "5000");
    }
    assertThat(lease.whenEnded().toCompletableFuture().get(2, TimeUnit.SECONDS))
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
      nodes.get(0).expireEarly(Clients.lockKey("repaired"));
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

  @Test
  void multiLock_waitingForOneOfItsNames_isWokenByItsRelease() throws Exception {
    Lease a = redlock.lock("a").acquire(WAIT);
    CompletableFuture<Lease> both = redlock.lock(List.of("a", "b")).acquireAsync(WAIT);
    Eventually.holds(() -> nodes.get(0).keys().size() > 0, nodes);
    long start = System.nanoTime();
    a.close();
    try (Lease lease = both.get(2, TimeUnit.SECONDS)) {
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(900));
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void minimumHold_releasedSooner_keepsOthersOut() throws Exception {
    DistributedLock lock =
        redlock.lock("atleast", brief().minimumHold(Duration.ofMillis(400)).build());
    long start = System.nanoTime();
    Lease first = lock.acquire(WAIT);
    first.close();
    assertThat(first.isValid()).isFalse();
    assertThat(lock.tryAcquire()).isEmpty();
    lock.acquire(WAIT).close();
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofMillis(395), Duration.ofMillis(1200));
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
        later.join().close(); // The grant was faster: then the lease is the caller's.
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
      assertThat(flag.get(2, TimeUnit.SECONDS)).isTrue();
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void withLock_bodyFails_throwsItsExceptionAndReleases() {
    IllegalStateException mine = new IllegalStateException("mine");
    assertThatThrownBy(
            () ->
                redlock
                    .lock("body")
                    .withLock(
                        WAIT,
                        lease -> {
                          throw mine;
                        }))
        .isSameAs(mine);
    assertThat(redlock.lock("body").<Integer>withLock(WAIT, lease -> 42)).isEqualTo(42);
  }

  @Test
  void withLock_leaseExpiresInBody_tellsLossApart() {
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
