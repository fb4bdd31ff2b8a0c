package dev.redlock.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.DistributedLock;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The contract of ShedLock's test kit ({@code shedlock-test-support}, not published for version 7),
 * written again, with two processes; and what this adapter adds to it.
 */
@Timeout(120)
class RedlockLockProviderTest {
  private static final String NAME = "job";
  private static final String KEY = RedlockLockProvider.DEFAULT_PREFIX + NAME;
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };
  private final List<AutoCloseable> open = new ArrayList<>();
  private RedlockLockProvider provider;
  private RedlockLockProvider other;

  @BeforeEach
  void connect() {
    provider = provider(client(Duration.ofSeconds(30)));
    other = provider(client(Duration.ofSeconds(30)));
  }

  @AfterEach
  void disconnect() throws Exception {
    for (AutoCloseable one : open) {
      one.close();
    }
  }

  private Redlock client(Duration maxLeaseTime) {
    LockNode[] own = new LockNode[nodes.length];
    for (int i = 0; i < own.length; i++) {
      own[i] = nodes[i].another();
    }
    Redlock redlock =
        Redlock.builder()
            .nodes(own)
            .maxLeaseTime(maxLeaseTime)
            // With the default of 250 ms, a pause of the machine would refuse a single try.
            .nodeTimeout(Duration.ofSeconds(1))
            .restartGuard(RestartGuard.OFF)
            .build();
    open.add(redlock);
    assertThat(redlock.awaitReady(DEADLINE)).isTrue();
    return redlock;
  }

  private RedlockLockProvider provider(Redlock redlock) {
    RedlockLockProvider made = new RedlockLockProvider(redlock);
    open.add(0, made);
    return made;
  }

  private static LockConfiguration config(String name, Duration atMost, Duration atLeast) {
    return new LockConfiguration(ClockProvider.now(), name, atMost, atLeast);
  }

  private static LockConfiguration config() {
    return config(NAME, LONG, Duration.ZERO);
  }

  private long holders() {
    long count = 0;
    for (InMemoryLockNode node : nodes) {
      count += node.holder(KEY) == null ? 0 : 1;
    }
    return count;
  }

  private void assertLocked() {
    assertThat(holders()).as("nodes that store the lock").isGreaterThanOrEqualTo(2);
    assertThat(other.lock(config())).isEmpty();
  }

  private void awaitUnlocked() {
    await().atMost(DEADLINE).until(this::holders, count -> count == 0);
  }

  // The contract of ShedLock.

  @Test
  void lock_isHeldUntilItIsUnlocked() {
    SimpleLock lock = provider.lock(config()).orElseThrow();
    assertLocked();
    lock.unlock();
    awaitUnlocked();
  }

  @Test
  void lock_ofAHeldName_isEmptyInThisProcessAndInOthers() {
    SimpleLock lock = provider.lock(config()).orElseThrow();
    assertThat(provider.lock(config())).isEmpty();
    assertThat(other.lock(config())).isEmpty();
    lock.unlock();
  }

  @Test
  void locks_ofTwoNames_areIndependent() {
    SimpleLock one = provider.lock(config()).orElseThrow();
    SimpleLock two = provider.lock(config("two", LONG, Duration.ZERO)).orElseThrow();
    one.unlock();
    two.unlock();
  }

  @Test
  void lock_afterUnlock_isGrantedTenTimesInARow() {
    for (int i = 0; i < 10; i++) {
      Optional<SimpleLock> lock = provider.lock(config());
      assertThat(provider.lock(config())).isEmpty();
      assertThat(lock).as("round %d", i).isPresent();
      lock.get().unlock();
    }
  }

  @Test
  void lock_afterLockAtMostFor_isFree() {
    assertThat(provider.lock(config(NAME, Duration.ofMillis(50), Duration.ZERO))).isPresent();
    awaitUnlocked();
    assertThat(other.lock(config())).hasValueSatisfying(SimpleLock::unlock);
  }

  @Test
  void unlock_beforeLockAtLeastFor_keepsTheLockUntilThen() {
    Duration atLeast = Duration.ofSeconds(2);
    long locked = System.nanoTime();
    provider.lock(config(NAME, atLeast.multipliedBy(2), atLeast)).orElseThrow().unlock();
    assertLocked();
    assertThat(provider.lock(config())).isEmpty();
    awaitUnlocked();
    assertThat(System.nanoTime() - locked).isGreaterThanOrEqualTo(atLeast.toNanos());
    assertThat(provider.lock(config())).hasValueSatisfying(SimpleLock::unlock);
  }

  @Test
  void counters_underTwoLocksInEightThreadsOfTwoProcesses_areExact() throws Exception {
    int[] counters = new int[2];
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        int job = i % 2;
        RedlockLockProvider mine = i < 4 ? provider : other;
        tasks.add(() -> countTo(100, counters, job, mine));
      }
      for (Future<Void> done : threads.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
        done.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(counters).containsExactly(400, 400);
  }

  private static Void countTo(int times, int[] counters, int job, RedlockLockProvider mine) {
    for (int done = 0; done < times; ) {
      Optional<SimpleLock> lock;
      try {
        lock = mine.lock(config("count" + job, LONG, Duration.ofMillis(2)));
      } catch (LockTimeoutException e) {
        continue; // The machine was paused.
      }
      if (lock.isPresent()) {
        int seen = counters[job];
        LockSupport.parkNanos(100_000);
        counters[job] = seen + 1;
        lock.get().unlock();
        done++;
      }
    }
    return null;
  }

  @Test
  void extend_ofAHeldLock_keepsItBeyondItsFirstTime() {
    SimpleLock lock =
        provider.lock(config(NAME, Duration.ofSeconds(1), Duration.ZERO)).orElseThrow();
    SimpleLock extended = lock.extend(Duration.ofMinutes(10), Duration.ZERO).orElseThrow();
    long first = System.nanoTime() + Duration.ofMillis(1200).toNanos();
    await().pollDelay(Duration.ZERO).atMost(DEADLINE).until(() -> System.nanoTime() - first > 0);
    assertLocked();
    extended.unlock();
    awaitUnlocked();
  }

  @Test
  void extend_ofAnUnlockedLock_isRejected() {
    SimpleLock lock = provider.lock(config()).orElseThrow();
    lock.unlock();
    assertThatThrownBy(() -> lock.extend(Duration.ofSeconds(10), Duration.ZERO))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void extend_afterLockAtMostFor_isEmpty() {
    SimpleLock lock =
        provider.lock(config(NAME, Duration.ofMillis(1), Duration.ZERO)).orElseThrow();
    long over = System.nanoTime() + Duration.ofMillis(2).toNanos();
    await().atMost(DEADLINE).until(() -> System.nanoTime() - over > 0);
    assertThat(lock.extend(Duration.ofSeconds(10), Duration.ZERO)).isEmpty();
    awaitUnlocked();
  }

  @Test
  void extend_withLockAtLeastFor_keepsTheLockAfterUnlock() {
    SimpleLock lock = provider.lock(config()).orElseThrow();
    lock.extend(Duration.ofSeconds(20), Duration.ofSeconds(15)).orElseThrow().unlock();
    assertLocked();
  }

  @Test
  void extendOrUnlock_afterAnExtension_isRejected() {
    SimpleLock lock = provider.lock(config()).orElseThrow();
    SimpleLock extended = lock.extend(LONG, Duration.ZERO).orElseThrow();
    assertThatThrownBy(() -> lock.extend(LONG, Duration.ZERO))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
    extended.unlock();
  }

  // What this adapter adds.

  @Test
  void lock_whileTooFewNodesVote_throwsInsteadOfSkippingTheTask() {
    nodes[0].kill();
    nodes[1].kill();
    await()
        .atMost(DEADLINE)
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> provider.lock(config()))
                    .isInstanceOf(QuorumUnavailableException.class));
  }

  @Tag("thorough")
  @Test
  void lock_whoseVotesThisProcessCountsTooLate_throwsInsteadOfSkippingTheTask() {
    AcquireReport late =
        new AcquireReport(
            List.of(KEY),
            AcquireVerdict.TOO_SLOW,
            2,
            List.of(),
            Duration.ZERO,
            1,
            Duration.ZERO,
            0,
            null);
    DistributedLock paused =
        fake(
            DistributedLock.class,
            method -> {
              throw new LockTimeoutException(late);
            });
    Redlock redlock =
        fake(Redlock.class, method -> method.equals("lock") ? paused : LockOptions.defaults());
    assertThatThrownBy(() -> provider(redlock).lock(config()))
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("too slow");
  }

  @SuppressWarnings("unchecked")
  private static <T> T fake(Class<T> type, Function<String, Object> answers) {
    return (T)
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> answers.apply(method.getName()));
  }

  @Test
  void lock_withTimesBeyondMaxLeaseTime_isExtendedAndKept() {
    Duration maxLeaseTime = Duration.ofSeconds(3);
    RedlockLockProvider shortLeases = provider(client(maxLeaseTime));
    long locked = System.nanoTime();
    Duration atLeast = Duration.ofSeconds(5);
    SimpleLock lock = shortLeases.lock(config(NAME, Duration.ofHours(6), atLeast)).orElseThrow();
    await()
        .atMost(DEADLINE)
        .until(() -> System.nanoTime() - locked > maxLeaseTime.plusMillis(500).toNanos());
    assertLocked(); // Without an extension its keys had expired.
    lock.unlock();
    assertLocked();
    awaitUnlocked();
    assertThat(System.nanoTime() - locked).isGreaterThanOrEqualTo(atLeast.toNanos());
  }

  @Test
  void close_ofTheClient_leavesTheLockTakenForLockAtLeastFor() {
    Redlock stopping = client(Duration.ofSeconds(30));
    RedlockLockProvider last = provider(stopping);
    last.lock(config(NAME, LONG, Duration.ofSeconds(20))).orElseThrow().unlock();
    last.close();
    stopping.close();
    assertLocked();
  }

  /** An executor may begin a task when the provider is closed already. */
  @Test
  void lock_ofAClosedProvider_isHeldUntilItIsUnlocked() {
    provider.close();
    SimpleLock lock = provider.lock(config()).orElseThrow();
    assertLocked();
    lock.unlock();
    awaitUnlocked();
  }

  @Test
  void close_whileATaskRunsAndAnotherHasEnded_releasesOnlyTheLockOfTheOther() {
    SimpleLock running = provider.lock(config()).orElseThrow();
    LockConfiguration brief = config("brief", LONG, Duration.ofMillis(300));
    provider.lock(brief).orElseThrow().unlock(); // Kept by the provider.
    provider.close(); // Kept by the nodes, for the rest of the time.
    assertLocked();
    await().atMost(DEADLINE).until(() -> other.lock(brief).isPresent());
    running.unlock();
    awaitUnlocked();
  }

  @Test
  void executor_ofShedLock_runsTheTaskOnceAndSkipsItElsewhere() throws Throwable {
    LockingTaskExecutor here = new DefaultLockingTaskExecutor(provider);
    LockingTaskExecutor there = new DefaultLockingTaskExecutor(other);
    // On a thread of its own: ShedLock does not lock twice within one thread.
    var result =
        here.executeWithLock(
            () -> CompletableFuture.supplyAsync(() -> wasExecuted(there)).join(), config());
    assertThat(result.wasExecuted()).isTrue();
    assertThat(result.getResult()).isEqualTo(false);
    awaitUnlocked();
  }

  private static boolean wasExecuted(LockingTaskExecutor executor) {
    try {
      return executor.executeWithLock(() -> "there", config()).wasExecuted();
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}
