package dev.redlock.examples.recipes;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.examples.fencing.StaleTokenException;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * A holder that reads the stock, is paused until its lease has ended, and then writes. Meanwhile
 * another client has sold a piece. The stock must reject the late write.
 */
final class LateWriter {
  /** Short and without extension: the end of this lease stands for a long pause of its holder. */
  private static final LockOptions PAUSED =
      LockOptions.builder().leaseTime(Duration.ofMillis(300)).autoExtend(false).build();

  private static final Duration WAIT = Duration.ofSeconds(10);

  private final Redlock first;
  private final Redlock second;
  private final TokenStock stock;
  private final Consumer<String> out;

  LateWriter(Redlock first, Redlock second, TokenStock stock, Consumer<String> out) {
    this.first = first;
    this.second = second;
    this.stock = stock;
    this.out = out;
  }

  /** Returns whether the stock rejected the late write. */
  boolean run() throws Exception {
    Lease late = first.lock("stock:coupon", PAUSED).acquire(WAIT);
    long lateToken = late.fencingToken().value();
    int seen = stock.read(lateToken);
    out.accept("A holds the lock with token " + lateToken + ", and reads " + seen);
    late.whenEnded().toCompletableFuture().join();
    out.accept("A is paused. Its lease has ended, and A does not know it");

    DistributedLock lock = second.lock("stock:coupon");
    try (Lease lease = lock.acquire(WAIT)) {
      long token = lease.fencingToken().value();
      int left = stock.read(token) - 1;
      stock.write(left, token);
      out.accept("B gets the lock with token " + token + ", sells one, and writes " + left);
    }

    try {
      stock.write(seen - 1, lateToken);
      out.accept("A continues and writes " + (seen - 1) + ": B's sale is lost");
      return false;
    } catch (StaleTokenException e) {
      out.accept("A continues and writes: rejected. " + e.getMessage());
      return true;
    }
  }
}
