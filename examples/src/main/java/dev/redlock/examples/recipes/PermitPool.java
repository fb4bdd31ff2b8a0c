package dev.redlock.examples.recipes;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * At most {@code k} holders at a time over all processes. Each permit is a lock with a name of its
 * own, {@code pool:0} to {@code pool:k-1}. So each permit is as sound as a lock; a count on a
 * majority of masters would admit too many ({@code docs/choosing.md}).
 */
final class PermitPool {
  private final List<DistributedLock> permits;

  PermitPool(Redlock redlock, String pool, int size) {
    permits = IntStream.range(0, size).mapToObj(i -> redlock.lock(pool + ":" + i)).toList();
  }

  /** Tries each permit once, in a random order; empty if none was free. */
  Optional<Lease> tryAcquire() {
    for (DistributedLock permit : shuffled()) {
      Optional<Lease> lease = permit.tryAcquire();
      if (lease.isPresent()) {
        return lease;
      }
    }
    return Optional.empty();
  }

  /**
   * Waits for a permit: queues for all of them, keeps the first that is granted, and gives up the
   * others.
   *
   * @throws LockTimeoutException if no permit became free in time
   */
  Lease acquire(Duration wait) {
    Optional<Lease> free = tryAcquire();
    if (free.isPresent()) {
      return free.get();
    }
    CompletableFuture<Lease> first = new CompletableFuture<>();
    List<CompletableFuture<Lease>> attempts = new ArrayList<>();
    for (DistributedLock permit : permits) {
      attempts.add(permit.acquireAsync(wait));
    }
    for (CompletableFuture<Lease> attempt : attempts) {
      attempt.thenAccept(
          lease -> {
            if (!first.complete(lease)) {
              lease.releaseAsync(); // Granted after another permit.
            }
          });
    }
    CompletableFuture.allOf(attempts.toArray(CompletableFuture[]::new))
        .whenComplete((all, failure) -> failed(first, failure));
    try {
      return first.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    } finally {
      attempts.forEach(attempt -> attempt.cancel(true));
    }
  }

  /** Runs when all attempts have ended; does nothing if one of them was granted. */
  private static void failed(CompletableFuture<Lease> first, @Nullable Throwable failure) {
    if (failure != null) {
      Throwable cause = failure.getCause();
      first.completeExceptionally(cause == null ? failure : cause);
    }
  }

  private List<DistributedLock> shuffled() {
    List<DistributedLock> order = new ArrayList<>(permits);
    Collections.shuffle(order);
    return order;
  }
}
