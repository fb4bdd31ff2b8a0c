package dev.redlock.bench.load;

import java.time.Duration;

/**
 * Repeats of a small experiment, each on the next of some names.
 *
 * @param count the largest number of repeats
 * @param time no repeat begins after this time
 * @param pause long enough that a caller that was refused waits, and that nothing of the repeat
 *     before is under way
 */
public record Rounds(int count, Duration time, Duration pause) {
  private static final int NAMES = 16;

  /** The name of a repeat. */
  public String name(String experiment, int repeat) {
    return experiment + "-" + repeat % NAMES;
  }
}
