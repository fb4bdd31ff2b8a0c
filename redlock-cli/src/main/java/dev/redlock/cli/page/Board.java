package dev.redlock.cli.page;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The latest state, for all viewers. The observer writes it, and each viewer waits for a newer one.
 * Safe from any thread.
 */
final class Board {
  private @Nullable String state;
  private long version;

  synchronized void show(String json) {
    state = json;
    version++;
    notifyAll();
  }

  /**
   * A state.
   *
   * @param version its number
   * @param json the state
   */
  record Shown(long version, String json) {}

  /** The state if it is newer than that version, or becomes so within the time; null otherwise. */
  synchronized @Nullable Shown newerThan(long seen, Duration patience) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (state == null || version <= seen) {
      long millis = (end - System.nanoTime()) / 1_000_000;
      if (millis <= 0) {
        return null;
      }
      wait(millis);
    }
    return new Shown(version, state);
  }
}
