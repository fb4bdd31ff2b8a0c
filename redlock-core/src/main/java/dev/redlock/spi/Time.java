package dev.redlock.spi;

/** Clocks and timers. Safe from any thread. */
public interface Time {

  /** Nanoseconds on a monotonic clock with an arbitrary origin. Compare differences only. */
  long nanos();

  /**
   * Milliseconds since 1970 on the wall clock. The client uses it only to detect that the machine
   * was suspended, because the monotonic clock may stop during that time.
   */
  long wallMillis();

  /** Runs a short, non-blocking task once, after the delay. */
  Cancellable schedule(Runnable task, long delayNanos);

  /** A scheduled task. */
  @FunctionalInterface
  interface Cancellable {
    /** Prevents the task from running unless it has begun. Idempotent. */
    void cancel();
  }
}
