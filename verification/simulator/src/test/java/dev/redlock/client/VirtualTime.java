package dev.redlock.client;

import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;

/**
 * Clocks and timers that only a test moves. In-memory nodes and their clients run on the test's
 * thread, one event after another, and every instant is exact.
 */
public final class VirtualTime implements Time {
  private static final class Task implements Cancellable {
    final Runnable action;
    final long atNanos;
    final long number;
    boolean cancelled;

    Task(Runnable action, long atNanos, long number) {
      this.action = action;
      this.atNanos = atNanos;
      this.number = number;
    }

    @Override
    public void cancel() {
      cancelled = true;
    }
  }

  private final PriorityQueue<Task> agenda =
      new PriorityQueue<>(
          Comparator.<Task>comparingLong(task -> task.atNanos)
              .thenComparingLong(task -> task.number));
  private long nanos = 1_000_000_000_000L;
  private long wallMillis = 1_700_000_000_000L;
  private long tasks;
  private long perReadNanos;

  @Override
  public long nanos() {
    nanos += perReadNanos;
    return nanos;
  }

  @Override
  public long wallMillis() {
    return wallMillis + nanos / 1_000_000L;
  }

  @Override
  public Cancellable schedule(Runnable task, long delayNanos) {
    Task one = new Task(task, nanos + Math.max(0, delayNanos), ++tasks);
    agenda.add(one);
    return one;
  }

  /** Lets this much time pass. */
  public void pass(Duration duration) {
    long end = nanos + duration.toNanos();
    while (step(end)) {
      // All tasks that were due have run.
    }
    nanos = end;
  }

  /**
   * Runs the tasks that are due now, and then lets time pass without running tasks: the client was
   * paused, its nodes were not.
   */
  public void pause(Duration duration, Duration first) {
    long end = nanos + duration.toNanos();
    pass(first);
    nanos = end;
  }

  /** Lets time pass, event by event, until the condition holds. */
  public void passUntil(BooleanSupplier condition, Duration within) {
    long end = nanos + within.toNanos();
    while (!condition.getAsBoolean()) {
      if (!step(end)) {
        throw new AssertionError("not within " + within);
      }
    }
  }

  private boolean step(long end) {
    Task next = agenda.peek();
    if (next == null || next.atNanos > end) {
      return false;
    }
    agenda.remove();
    if (!next.cancelled) {
      nanos = Math.max(nanos, next.atNanos);
      next.action.run();
    }
    return true;
  }

  /** From now on each read of the clock adds 1 s, so a thread that waits for the time continues. */
  public void runAway() {
    perReadNanos = 1_000_000_000L;
  }

  /** The machine was suspended: the wall clock continued, the monotonic clock stopped. */
  public void suspend(Duration duration) {
    wallMillis += duration.toMillis();
  }
}
