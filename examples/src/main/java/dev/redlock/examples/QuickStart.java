package dev.redlock.examples;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.examples.fencing.SqlStock;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * What the README quotes. Lines between {@code readme:} and {@code readme.} stand there word for
 * word; a test compares them.
 */
final class QuickStart {
  private QuickStart() {}

  static void sell(SqlStock stock) throws SQLException {
    // readme: quick-start
    Redlock redlock =
        Redlock.builder() // one per application; it connects in the background
            .nodes("redis://10.0.0.1:6379", "redis://10.0.0.2:6379", "redis://10.0.0.3:6379")
            .build();
    DistributedLock lock = redlock.lock("coupons");

    try (Lease lease = lock.acquire(Duration.ofSeconds(5))) { // waits 5 s at most
      long token = lease.fencingToken().value(); // higher than that of any holder before
      int left = stock.read("coupon", token); // refused if a later holder has been here
      stock.write("coupon", left - 1, token); // so is this
    }
    // readme.
  }

  static void loss(DistributedLock lock, Consumer<LeaseEnd> told) {
    // readme: loss
    try (Lease lease = lock.acquire(Duration.ofSeconds(5))) {
      lease.whenEnded().thenAccept(told); // how it ended, by the time its validity does
      lease.ensureValid(); // before each step that cannot be taken back
    } catch (LockTimeoutException e) {
      System.err.println(e.report()); // held by another: by whom, on which nodes, how long still
    } catch (QuorumUnavailableException e) {
      System.err.println(e.report()); // too few nodes answered: which, and why
    }
    // readme.
  }
}
