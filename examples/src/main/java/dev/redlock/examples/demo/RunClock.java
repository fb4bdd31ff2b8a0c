package dev.redlock.examples.demo;

import java.util.Locale;

/**
 * Time of the run. Workers report {@link System#nanoTime()} of their own process: on Linux and
 * macOS that is one clock for all processes of a host, which {@link #requireShared} checks.
 */
record RunClock(long startNanos) {

  static RunClock start() {
    return new RunClock(System.nanoTime());
  }

  long now() {
    return System.nanoTime() - startNanos;
  }

  /** A worker's time, counted from the start of the run. */
  long of(long workerNanos) {
    return workerNanos - startNanos;
  }

  /** Refuses a clock that read {@code workerNanos} after we had read {@code beforeNanos}. */
  static void requireShared(long beforeNanos, long workerNanos) {
    long afterNanos = System.nanoTime();
    if (workerNanos < beforeNanos || workerNanos > afterNanos) {
      throw new IllegalStateException(
          "processes here do not share a monotonic clock: "
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
