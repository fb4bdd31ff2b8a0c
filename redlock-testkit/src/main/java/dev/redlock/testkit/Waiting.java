package dev.redlock.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a condition with a deadline, looking often at first and less often later. */
final class Waiting {

  private static final long LONGEST_PAUSE_NANOS = 10_000_000;

  private Waiting() {}

  /** True as soon as the condition holds, false once the time is over or the thread interrupted. */
  static boolean reached(Duration patience, BooleanSupplier condition) {
    long start = System.nanoTime();
    long pauseNanos = 200_000;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start >= patience.toNanos()
          || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(pauseNanos);
      pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
    }
    return true;
  }

  /** Returns as soon as the condition holds; fails with the words given once the time is over. */
  static void until(String what, Duration patience, BooleanSupplier condition) {
    if (!reached(patience, condition)) {
      String why = Thread.currentThread().isInterrupted() ? "interrupted" : "waited " + patience;
      throw new IllegalStateException("Not reached: " + what + " (" + why + ")");
    }
  }
}
