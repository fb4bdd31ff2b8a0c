package dev.redlock.micrometer;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockQueueFullException;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** A contended run that counts its own results, to be compared with the meters. */
final class RunCounts {
  private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();
  private final List<Lease> leases = new CopyOnWriteArrayList<>();

  int of(String what) {
    AtomicInteger count = counts.get(what);
    return count == null ? 0 : count.get();
  }

  private void count(String what) {
    counts.computeIfAbsent(what, key -> new AtomicInteger()).incrementAndGet();
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
      count("acquired wait");
    } catch (LockTimeoutException e) {
      count("timed_out wait");
    } catch (QuorumUnavailableException e) {
      count("unavailable wait");
    } catch (LockQueueFullException e) {
      count("turned_away wait");
    }
  }

  private void tryOnce(DistributedLock lock) throws InterruptedException {
    try {
      Optional<Lease> lease = lock.tryAcquire();
      if (lease.isPresent()) {
        hold(lease.get());
        count("acquired try");
      } else {
        count("refused try");
      }
    } catch (LockTimeoutException e) {
      count("timed_out try");
    } catch (QuorumUnavailableException e) {
      count("unavailable try");
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
