package dev.redlock.internal;

import dev.redlock.AcquireVerdict;
import dev.redlock.internal.protocol.Nodes;
import dev.redlock.internal.protocol.RoundLimiter;

/**
 * The limiter that the actors of all locks share. The monitor is held for a few instructions, and
 * no user code runs inside.
 */
final class SharedRoundLimiter extends RoundLimiter {
  @Override
  public synchronized int underWay() {
    return super.underWay();
  }

  @Override
  public synchronized int limit() {
    return super.limit();
  }

  @Override
  public synchronized double backoff() {
    return super.backoff();
  }

  @Override
  public synchronized void began() {
    super.began();
  }

  @Override
  public synchronized void ended(
      AcquireVerdict verdict, long startNanos, long timeoutNanos, Nodes nodes, long nowNanos) {
    super.ended(verdict, startNanos, timeoutNanos, nodes, nowNanos);
  }
}
