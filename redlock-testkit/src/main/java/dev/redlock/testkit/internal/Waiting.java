package dev.redlock.testkit.internal;

import dev.redlock.internal.text.Printable;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a condition with a deadline. Checks often at first and less often later.
 *
 * <p>A condition that throws does not hold yet: nodes that start, load data or change their role
 * reject commands or do not reply for a moment.
 *
 * <p>Ignores interrupts: a fault that was requested is executed to the end, and its deadlines are
 * short. The thread's interrupt flag is kept.
 */
public final class Waiting {

  private static final long LONGEST_PAUSE_NANOS = 10_000_000;

  /** After a stop of the whole machine the time has passed, and nobody had a chance to act. */
  private static final int LAST_CHECKS = 20;

  private Waiting() {}

  /** Returns true as soon as the condition holds, false when the time has passed. */
  public static boolean reached(Duration patience, BooleanSupplier condition) {
    return wait(patience, condition).reached();
  }

  /** Returns as soon as the condition holds; fails with the given text when the time has passed. */
  public static void until(String what, Duration patience, BooleanSupplier condition) {
    until(() -> what, patience, condition);
  }

  /**
   * The same with a text that is computed only on failure, so that it can describe the state at
   * that time.
   */
  public static void until(Supplier<String> what, Duration patience, BooleanSupplier condition) {
    Outcome outcome = wait(patience, condition);
    if (!outcome.reached()) {
      throw new IllegalStateException(
          "Not within " + Printable.of(patience) + ": " + what.get(), outcome.failure());
    }
  }

  /** The failure is that of the last check, if it threw. */
  private record Outcome(boolean reached, @Nullable RuntimeException failure) {}

  private static Outcome wait(Duration patience, BooleanSupplier condition) {
    long start = System.nanoTime();
    long pauseNanos = 200_000;
    int late = 0;
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        late += System.nanoTime() - start >= patience.toNanos() ? 1 : 0;
        Outcome seen = check(condition);
        if (seen.reached() || late >= LAST_CHECKS) {
          return seen;
        }
        LockSupport.parkNanos(pauseNanos);
        interrupted |= Thread.interrupted();
        pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static Outcome check(BooleanSupplier condition) {
    try {
      return new Outcome(condition.getAsBoolean(), null);
    } catch (RuntimeException e) {
      return new Outcome(false, e);
    }
  }
}
