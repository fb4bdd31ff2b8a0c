package dev.redlock.simulation;

/** Back-off: pauses that double up to a limit. */
final class Pauses {
  private Pauses() {}

  /** How many pauses, one after another, fit into this time. */
  static long within(long elapsedNanos, long firstNanos, long limitNanos) {
    long left = elapsedNanos;
    long pause = Math.max(1, firstNanos);
    int count = 0;
    while (pause < limitNanos && left >= pause) {
      left -= pause;
      pause = 2 * pause;
      count++;
    }
    return pause < limitNanos ? count : count + Math.max(0, left) / limitNanos;
  }
}
