package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A lease from its grant to each of its ends. */
@RedisTest(nodes = 5)
class LeaseIT extends OneClient {
  private static final Duration WAIT = Duration.ofSeconds(5);

  LeaseIT(RedisNodes nodes) {
    super(nodes, Clients::patient);
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
}
