package dev.redlock.examples.demo;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.examples.demo.Sale.Outcome;
import dev.redlock.examples.fencing.RedisStock;
import dev.redlock.examples.fencing.StaleTokenException;
import java.time.Duration;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Sells coupons one after another: reads the stock, waits, and writes one less. Only a lock around
 * these three steps prevents two sellers from selling the same coupon.
 */
final class Seller implements Runnable {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final int worker;
  private final RedisStock stock;
  private final @Nullable DistributedLock lock;
  private final WorkerCommands commands;
  private final Worker.Out out;
  private final Random random;

  /** Creates a seller. With a null lock it sells without a lock. */
  Seller(
      int worker,
      RedisStock stock,
      @Nullable DistributedLock lock,
      WorkerCommands commands,
      Worker.Out out,
      Random random) {
    this.worker = worker;
    this.stock = stock;
    this.lock = lock;
    this.commands = commands;
    this.out = out;
    this.random = random;
  }

  @Override
  public void run() {
    try {
      commands.awaitOpening();
      while (!commands.closed()) {
        out.send(lock == null ? sellWithoutLock() : sellUnder(lock));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Message sellUnder(DistributedLock lock) throws InterruptedException {
    long askedNanos = System.nanoTime();
    try (Lease lease = lock.acquire(PATIENCE)) {
      return sell(lease, askedNanos, System.nanoTime()).message();
    } catch (LockTimeoutException | QuorumUnavailableException e) {
      return Message.of("refused", "why", String.valueOf(e.getMessage()));
    }
  }

  private Sale sell(Lease lease, long askedNanos, long fromNanos) throws InterruptedException {
    long token = lease.fencingToken().value();
    long untilNanos = validUntilNanos(lease);
    Outcome outcome;
    try {
      int coupon = stock.read(token);
      think();
      lease.ensureValid();
      untilNanos = validUntilNanos(lease);
      long stuckUntilNanos = untilNanos;
      // A pause here, between the check and the write, is one that no check can detect.
      commands.freezeIfTold(
          out,
          () -> Message.of("stuck", "token", token, "from", fromNanos, "until", stuckUntilNanos));
      stock.sell(coupon - 1, entry(coupon, token), token);
      outcome = Outcome.SOLD;
    } catch (StaleTokenException e) {
      outcome = lease.isValid() ? Outcome.VIOLATION : Outcome.REJECTED;
    } catch (LeaseLostException e) {
      outcome = Outcome.LOST;
    }
    long nowNanos = System.nanoTime();
    long toNanos = lease.isValid() ? nowNanos : Math.min(nowNanos, untilNanos);
    return new Sale(worker, token, askedNanos, fromNanos, Math.max(fromNanos, toNanos), outcome);
  }

  private Message sellWithoutLock() throws InterruptedException {
    long fromNanos = System.nanoTime();
    int coupon = stock.readUnchecked();
    think();
    stock.sellUnchecked(coupon - 1, entry(coupon, 0));
    return new Sale(worker, 0, fromNanos, fromNanos, System.nanoTime(), Outcome.SOLD).message();
  }

  private void think() throws InterruptedException {
    Thread.sleep(1 + random.nextInt(2));
  }

  private String entry(int coupon, long token) {
    return new Audit.Entry(coupon, worker, token).toString();
  }

  private static long validUntilNanos(Lease lease) {
    long now = System.nanoTime(); // Read first: a pause before the next line shortens the claim.
    return now + lease.remainingValidity().toNanos();
  }
}
