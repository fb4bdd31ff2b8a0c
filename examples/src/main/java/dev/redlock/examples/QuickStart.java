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
 * The code in the README. The lines between {@code readme:} and {@code readme.} appear there
 * verbatim; a test compares them.
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

    try (Lease lease = lock.acquire(Duration.ofSeconds(5))) { // waits for at most 5 s
      long token = lease.fencingToken().value(); // higher than every earlier token
      int left = stock.read("coupon", token); // rejected if a later holder was here
      stock.write("coupon", left - 1, token); // rejected likewise
    }
    // readme.
  }

  static void loss(DistributedLock lock, Consumer<LeaseEnd> told) {
    // readme: loss
    try (Lease lease = lock.acquire(Duration.ofSeconds(5))) {
      lease.whenEnded().thenAccept(told); // called when the lease ends
      lease.ensureValid(); // before each irrevocable step
    } catch (LockTimeoutException e) {
      System.err.println(e.report()); // held: each node's vote and remaining time
    } catch (QuorumUnavailableException e) {
      System.err.println(e.report()); // no quorum: each node's error
    }
    // readme.
  }
}
