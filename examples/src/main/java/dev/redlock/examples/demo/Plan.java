package dev.redlock.examples.demo;

import java.nio.file.Path;
import java.time.Duration;

/**
 * What is to be run.
 *
 * @param locked whether sellers take the lock; without it the shop oversells
 * @param length how long they sell
 * @param seed decides who is hit by which fault, and how long each sale takes
 * @param page where the picture goes
 */
record Plan(boolean locked, Duration length, long seed, Path page) {
  static final int MASTERS = 5;
  static final int WORKERS = 3;
  static final int THREADS = 4;
  static final int COUPONS = 1_000_000;
  static final String ITEM = "coupon";

  /** Short, so that nobody waits long for a holder that died. */
  static final Duration LEASE = Duration.ofSeconds(3);

  /** How long a master that may have forgotten stays out, but for two seconds more. */
  static final Duration MAX_LEASE = Duration.ofSeconds(5);

  /**
   * How long nothing may be sold, at most: a holder that died keeps the lock for the lease time; a
   * waiter looks again at the latest after one and a half times its poll, here a third of the lease
   * time; half a second is for a busy machine.
   */
  static final Duration LONGEST_GAP =
      LEASE.plus(LEASE.dividedBy(3).multipliedBy(3).dividedBy(2)).plusMillis(500);

  /** Fewer sales a second than this, and something is wrong although nothing was oversold. */
  static final int LEAST_SALES_PER_SECOND = 5;

  /** So many seconds it takes to show all faults, one after the other. */
  static final int LEAST_SECONDS = 24;
}
