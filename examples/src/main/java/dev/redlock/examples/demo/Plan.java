package dev.redlock.examples.demo;

import java.nio.file.Path;
import java.time.Duration;

/**
 * The settings of a run.
 *
 * @param locked whether sellers acquire the lock; without it the shop oversells
 * @param length the duration of the sales
 * @param seed selects the targets of the faults and the duration of each sale
 * @param page the file of the picture
 */
record Plan(boolean locked, Duration length, long seed, Path page) {
  static final int MASTERS = 5;
  static final int WORKERS = 3;
  static final int THREADS = 4;
  static final int COUPONS = 1_000_000;
  static final String ITEM = "coupon";

  /** Short, so that the workers do not wait long for the lease of a dead holder. */
  static final Duration LEASE = Duration.ofSeconds(3);

  /** The maxLeaseTime. The quarantine of a restarted master lasts 2 s longer. */
  static final Duration MAX_LEASE = Duration.ofSeconds(5);

  /**
   * The longest time without a sale that is acceptable. The lease of a dead holder lasts the lease
   * time. A waiter asks again after 1.5 poll intervals at the latest, and the poll interval is 1/3
   * of the lease time here. 500 ms are for a busy machine.
   */
  static final Duration LONGEST_GAP =
      LEASE.plus(LEASE.dividedBy(3).multipliedBy(3).dividedBy(2)).plusMillis(500);

  /** The run fails with fewer sales per second than this, even if no coupon was sold twice. */
  static final int LEAST_SALES_PER_SECOND = 5;

  /** The shortest run, in seconds, that can show all faults one after another. */
  static final int LEAST_SECONDS = 24;
}
