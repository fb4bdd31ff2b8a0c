package dev.redlock.examples.demo;

import java.util.Locale;

/**
 * The clock of the run. Workers report {@link System#nanoTime()} of their own process. On Linux and
 * macOS all processes of a host share that clock; {@link #requireShared} checks it.
 */
record RunClock(long startNanos) {

  static RunClock start() {
    return new RunClock(System.nanoTime());
  }

  long now() {
    return System.nanoTime() - startNanos;
  }

  /** Converts a time of a worker to the time since the start of the run. */
  long of(long workerNanos) {
    return workerNanos - startNanos;
  }

  /**
   * Fails if a worker's clock read {@code workerNanos} after this process had read {@code
   * beforeNanos}, and that is impossible on one clock.
   */
  static void requireShared(long beforeNanos, long workerNanos) {
    long afterNanos = System.nanoTime();
    if (workerNanos < beforeNanos || workerNanos > afterNanos) {
      throw new IllegalStateException(
          "the processes of this host do not share a monotonic clock: "
              + beforeNanos
              + ", "
              + workerNanos
              + ", "
              + afterNanos);
    }
  }

  static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
  }
}
