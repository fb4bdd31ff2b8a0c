package dev.redlock.examples;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.examples.fencing.SqlStock;
import java.sql.SQLException;
import java.time.Duration;

/**
 * The code in the README. The lines between {@code readme:} and {@code readme.} appear there
 * verbatim; a test compares them.
 */
final class QuickStart {
  private QuickStart() {}

  static void sell(SqlStock stock) throws SQLException {
    // readme: quick-start
    Redlock redlock =
        Redlock.builder() // one per application, closed at its end
            .nodes("redis://10.0.0.1:6379", "redis://10.0.0.2:6379", "redis://10.0.0.3:6379")
            .build();
    redlock.awaitReady(Duration.ofMinutes(1)); // the first connections take their time
    DistributedLock lock = redlock.lock("coupons");

    try (Lease lease = lock.acquire(Duration.ofSeconds(5))) { // waits for at most 5 s
      long token = lease.fencingToken().value(); // higher than every earlier token
      // Both are rejected if a later holder was here.
      stock.write("coupon", stock.read("coupon", token) - 1, token);
    }
    // readme.
  }
}
