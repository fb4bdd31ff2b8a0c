package dev.redlock.internal.protocol;

/**
 * What a {@link Wait} has suffered so far. Each setback makes it more careful with what the home
 * node and hints say. Only a new wait begins without them.
 *
 * @param turnsInVain how often this process was refused at its turn
 * @param pauseNanos the last pause; the next one is longer. 0 if there was none
 * @param queueFailed whether the newest request to be queued failed
 * @param hintInVain whether the lock was held after a hint, and this process had no turn since
 */
record Setbacks(int turnsInVain, long pauseNanos, boolean queueFailed, boolean hintInVain) {
  /**
   * How often this process may be refused at its turn. A home node that admits while others hold
   * the lock has lost its key.
   */
  private static final int TURNS_LIMIT = 2;

  static final long MAX_PAUSE_NANOS = 1_000_000_000;

  static final Setbacks NONE = new Setbacks(0, 0, false, false);

  /** Whether the home node says that it is the turn of this process, but others hold the lock. */
  boolean isHomeWrong() {
    return turnsInVain > TURNS_LIMIT;
  }

  Setbacks turnInVain() {
    return new Setbacks(turnsInVain + 1, pauseNanos, queueFailed, hintInVain);
  }

  /** One more pause: the first has this length, each other one is twice as long as the last. */
  Setbacks paused(long first) {
    long pause = Math.min(MAX_PAUSE_NANOS, pauseNanos == 0 ? first : 2 * pauseNanos);
    return new Setbacks(turnsInVain, pause, queueFailed, hintInVain);
  }

  Setbacks failedToQueue() {
    return new Setbacks(turnsInVain, pauseNanos, true, hintInVain);
  }

  Setbacks queued() {
    return new Setbacks(turnsInVain, pauseNanos, false, hintInVain);
  }

  Setbacks hintCameInVain() {
    return new Setbacks(turnsInVain, pauseNanos, queueFailed, true);
  }

  Setbacks admitted() {
    return new Setbacks(turnsInVain, pauseNanos, false, false);
  }
}
