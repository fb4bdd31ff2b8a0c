package dev.redlock.spi;

/** Clocks and timers. Safe from any thread. */
public interface Time {

  /** Nanoseconds on a monotonic clock with an arbitrary origin; compare differences only. */
  long nanos();

  /**
   * Milliseconds since 1970 on the wall clock. Used for one thing only: to notice that the machine
   * was suspended, which the monotonic clock may not count.
   */
  long wallMillis();

  /** Runs a short, non-blocking task once, not before the delay has passed. */
  Cancellable schedule(Runnable task, long delayNanos);

  /** A scheduled task. */
  @FunctionalInterface
  interface Cancellable {
    /** Keeps the task from running, if it has not begun. Idempotent. */
    void cancel();
  }
}
