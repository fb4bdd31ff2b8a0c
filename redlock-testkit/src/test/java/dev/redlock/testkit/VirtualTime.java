package dev.redlock.testkit;

import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;

/**
 * Clocks and timers that stand still until a test moves them: in-memory nodes and their clients
 * then run on the test's thread, one event after another, and every instant is exact.
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
  private long perLookNanos;

  @Override
  public long nanos() {
    nanos += perLookNanos;
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
      // What is due has been done.
    }
    nanos = end;
  }

  /**
   * Lets time pass without anything that is due being done, but for what is due at first: the
   * client was paused, its nodes were not.
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

  /** From now on time passes with every look at the clock: a thread that waits for it goes on. */
  public void runAway() {
    perLookNanos = 1_000_000_000L;
  }

  /** The machine was suspended: the wall clock went on, the monotonic one did not. */
  public void suspend(Duration duration) {
    wallMillis += duration.toMillis();
  }
}
