package dev.redlock.bench.system;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for a condition, with a deadline. */
public final class Waiting {
  private Waiting() {}

  /** Checks every few milliseconds; fails when the time has passed. */
  public static void until(String what, Duration patience, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > patience.toNanos()) {
        throw new IllegalStateException("Not within " + patience + ": " + what);
      }
      pause(Duration.ofMillis(5));
    }
  }

  /** Sleeps. */
  public static void pause(Duration time) {
    try {
      Thread.sleep(time.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
