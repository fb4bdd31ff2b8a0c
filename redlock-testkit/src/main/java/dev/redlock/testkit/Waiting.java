package dev.redlock.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Waits for a condition with a deadline, looking often at first and less often later.
 *
 * <p>Not to be interrupted: a fault that was asked for is carried through, and its deadlines are
 * short. The thread's interrupt flag is kept.
 */
final class Waiting {

  private static final long LONGEST_PAUSE_NANOS = 10_000_000;

  private Waiting() {}

  /** True as soon as the condition holds, false once the time is over. */
  static boolean reached(Duration patience, BooleanSupplier condition) {
    long start = System.nanoTime();
    long pauseNanos = 200_000;
    boolean interrupted = Thread.interrupted();
    try {
      while (!condition.getAsBoolean()) {
        if (System.nanoTime() - start >= patience.toNanos()) {
          return false;
        }
        LockSupport.parkNanos(pauseNanos);
        interrupted |= Thread.interrupted();
        pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
      }
      return true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Returns as soon as the condition holds; fails with the words given once the time is over. */
  static void until(String what, Duration patience, BooleanSupplier condition) {
    if (!reached(patience, condition)) {
      throw new IllegalStateException("Not within " + patience + ": " + what);
    }
  }
}
