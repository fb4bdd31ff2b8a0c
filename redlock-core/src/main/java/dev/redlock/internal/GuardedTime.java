package dev.redlock.internal;

import dev.redlock.spi.Time;

/**
 * The clocks and timers that the user configured. If they reject a timer, the client's own timers
 * run it: without the timer a lease would not end, and a caller would wait beyond its deadline.
 */
record GuardedTime(Time given, SystemTime fallback, FailureLog failures) implements Time {

  @Override
  public long nanos() {
    return given.nanos();
  }

  @Override
  public long wallMillis() {
    return given.wallMillis();
  }

  @Override
  public Cancellable schedule(Runnable task, long delayNanos) {
    Cancellable scheduled;
    try {
      scheduled = given.schedule(task, delayNanos);
    } catch (Throwable e) {
      failures.report("Time.schedule", e);
      return fallback.schedule(task, delayNanos);
    }
    return () -> {
      try {
        scheduled.cancel();
      } catch (Throwable e) {
        failures.report("Time.Cancellable.cancel", e);
      }
    };
  }
}
