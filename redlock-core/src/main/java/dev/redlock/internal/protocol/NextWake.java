package dev.redlock.internal.protocol;

/** The nearest of several instants. */
final class NextWake {
  private final long nowNanos;
  private long delay = Long.MAX_VALUE;

  NextWake(long nowNanos) {
    this.nowNanos = nowNanos;
  }

  void at(long nanos) {
    delay = Math.min(delay, Math.max(0, nanos - nowNanos));
  }

  /** Nanoseconds from now; {@link Long#MAX_VALUE} if there is nothing to wait for. */
  long delayNanos() {
    return delay;
  }
}
