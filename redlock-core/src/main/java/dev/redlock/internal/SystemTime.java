package dev.redlock.internal;

import dev.redlock.spi.Time;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The machine's clocks, and one daemon thread for timers. The only reader of a clock. */
final class SystemTime implements Time, AutoCloseable {
  private final ScheduledThreadPoolExecutor timer;

  SystemTime() {
    timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "redlock-timer");
              thread.setDaemon(true);
              return thread;
            });
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public Cancellable schedule(Runnable task, long delayNanos) {
    try {
      ScheduledFuture<?> scheduled = timer.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
      return () -> scheduled.cancel(false);
    } catch (RejectedExecutionException e) {
      return () -> {}; // Closed: nothing is waited for any more.
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
