package dev.redlock.internal.protocol;

import org.jspecify.annotations.Nullable;

/** The sleep between two requests of the head of the local queue: until when, and why it ends. */
final class Sleep {
  private boolean on;
  private boolean heedsHints;
  private long endNanos;
  private WakeUp cause = WakeUp.PAUSE;

  /** Sleeps until then, for this cause; with {@code hints}, a hint may end the sleep earlier. */
  void until(long nanos, WakeUp cause, boolean hints) {
    on = true;
    endNanos = nanos;
    this.cause = cause;
    heedsHints = hints;
  }

  /** A hint: ends the sleep by then. Returns whether that is earlier than planned. */
  boolean wakeBy(long nanos) {
    boolean earlier = heedsHints() && nanos - endNanos < 0;
    if (earlier) {
      until(nanos, WakeUp.HINT, true);
    }
    return earlier;
  }

  void ignoreHints() {
    heedsHints = false;
  }

  /** Ends the sleep; returns its cause, or null if there was none. */
  @Nullable WakeUp end() {
    boolean was = on;
    on = false;
    return was ? cause : null;
  }

  boolean isOn() {
    return on;
  }

  boolean heedsHints() {
    return on && heedsHints;
  }

  boolean isOver(long now) {
    return !on || endNanos - now <= 0;
  }

  /** Why this sleep ends, or why the last one ended. */
  WakeUp cause() {
    return cause;
  }

  void deadlines(NextWake wake) {
    if (on) {
      wake.at(endNanos);
    }
  }
}
