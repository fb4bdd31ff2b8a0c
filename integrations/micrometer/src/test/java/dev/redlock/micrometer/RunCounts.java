package dev.redlock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireVerdict;
import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockQueueFullException;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToLongBiFunction;

/** A contended run that counts its own results, to be compared with the meters. */
final class RunCounts {
  private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();
  private final List<Lease> leases = new CopyOnWriteArrayList<>();

  /**
   * Compares the calls of each kind with the meters.
   *
   * @param calls what the meters counted for an outcome and a mode
   */
  void assertMetered(ToLongBiFunction<String, String> calls) {
    Map<String, Long> metered = new TreeMap<>();
    for (AcquireVerdict verdict : AcquireVerdict.values()) {
      String outcome = verdict.name().toLowerCase(Locale.ROOT);
      for (String mode : List.of("wait", "try", "fair")) {
        metered.merge(what(verdict, mode), calls.applyAsLong(outcome, mode), Long::sum);
      }
    }
    metered.forEach(
        (what, count) -> {
          AtomicInteger own = counts.get(what);
          assertThat(count).as(what).isEqualTo(own == null ? 0 : own.get());
        });
  }

  /** An empty result does not say who holds the lock. */
  private static String what(AcquireVerdict verdict, String mode) {
    return (verdict.isHeld() ? AcquireVerdict.HELD : verdict) + " " + mode;
  }

  private void count(AcquireVerdict verdict, String mode) {
    counts.computeIfAbsent(what(verdict, mode), key -> new AtomicInteger()).incrementAndGet();
  }

  /** Waits with a thread, tries, and gives up futures, in turn. */
  void contend(DistributedLock lock, int times) throws InterruptedException {
    for (int i = 0; i < times; i++) {
      switch (i % 4) {
        case 0, 1 -> waitFor(lock, Duration.ofSeconds(20));
        case 2 -> tryOnce(lock);
        default -> waitFor(lock, Duration.ofMillis(ThreadLocalRandom.current().nextInt(1, 4)));
      }
    }
  }

  private void waitFor(DistributedLock lock, Duration wait) throws InterruptedException {
    try {
      hold(lock.acquire(wait));
      count(AcquireVerdict.ACQUIRED, "wait");
    } catch (LockTimeoutException e) {
      count(e.report().verdict(), "wait");
    } catch (QuorumUnavailableException e) {
      count(e.report().verdict(), "wait");
    } catch (LockQueueFullException e) {
      count(e.report().verdict(), "wait");
    }
  }

  private void tryOnce(DistributedLock lock) throws InterruptedException {
    try {
      Optional<Lease> lease = lock.tryAcquire();
      if (lease.isPresent()) {
        hold(lease.get());
        count(AcquireVerdict.ACQUIRED, "try");
      } else {
        count(AcquireVerdict.HELD, "try");
      }
    } catch (LockTimeoutException e) {
      count(e.report().verdict(), "try");
    } catch (QuorumUnavailableException e) {
      count(e.report().verdict(), "try");
    }
  }

  private void hold(Lease lease) throws InterruptedException {
    leases.add(lease);
    Thread.sleep(0, 200_000);
    lease.close();
  }

  /** How many leases ended this way. */
  long ended(LeaseEnd end) {
    return leases.stream()
        .filter(lease -> lease.whenEnded().toCompletableFuture().join() == end)
        .count();
  }

  int leases() {
    return leases.size();
  }
}
