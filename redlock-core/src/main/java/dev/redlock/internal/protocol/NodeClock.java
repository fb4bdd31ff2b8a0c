package dev.redlock.internal.protocol;

import org.jspecify.annotations.Nullable;

/**
 * An estimate of a node's clock, from the most precise reply that told the time.
 *
 * @param offsetMicros the node's clock less the monotonic clock of this process
 * @param errorNanos by how much the estimate may be wrong at the moment of the reading
 * @param readAtNanos when the reply came
 */
record NodeClock(long offsetMicros, long errorNanos, long readAtNanos) {
  /** The error of an estimate grows by one nanosecond in so many (200 ppm). */
  private static final long DRIFT = 5_000;

  /**
   * The estimate after a further reading.
   *
   * <p>A reading is wrong by up to half of its round trip, and the error grows with time. So a slow
   * reply tells less than a fast one some seconds before. If both cannot be right, the clock was
   * set. The estimate then moves by the least that explains both readings: a reply that a paused
   * process reads half a minute late says little about the clock.
   */
  static NodeClock read(@Nullable NodeClock before, long offset, long error, long nowNanos) {
    if (before == null) {
      return new NodeClock(offset, error, nowNanos);
    }
    long errorBefore = before.errorNanos + Math.max(0, nowNanos - before.readAtNanos) / DRIFT;
    if (error <= errorBefore) {
      return new NodeClock(offset, error, nowNanos);
    }
    long known = before.offsetMicros;
    boolean wasSet = Math.abs(offset - known) * 1000 > error + errorBefore + 2_000;
    if (!wasSet) {
      return before;
    }
    long errorMicros = error / 1000;
    long moved = Math.max(offset - errorMicros, Math.min(known, offset + errorMicros));
    return new NodeClock(moved, error, nowNanos);
  }
}
