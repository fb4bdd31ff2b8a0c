package dev.redlock.vertx.internal;

/**
 * How often the waiters of one name are woken: {@value #BURST} times in a row, and then once per
 * {@value #TICK_MILLIS} ms. The last hint of a flood is never dropped.
 *
 * <p>A hint may overtake the release on its way to a node; the waiter that it wakes is then
 * refused. So the last hint of a name wakes its waiters twice more, after 50 ms and 400 ms.
 */
final class HintThrottle {
  static final long TICK_MILLIS = 10;
  private static final int BURST = 20;
  private static final int SECOND_TICKS = 5;
  private static final int LAST_TICKS = 40;

  private int budget = BURST;
  private boolean pending;
  private int quietTicks;

  /** The two later wake-ups are counted from now on. */
  void restart() {
    quietTicks = 0;
  }

  /** A hint arrived; whether it wakes the waiters now. */
  boolean hint() {
    if (budget > 0) {
      budget--;
      return true;
    }
    pending = true;
    return false;
  }

  /** Another tick passed; whether the waiters are woken now. */
  boolean tick() {
    quietTicks++;
    if (pending) {
      pending = false;
      return true;
    }
    budget = Math.min(BURST, budget + 1);
    return quietTicks == SECOND_TICKS || quietTicks == LAST_TICKS;
  }

  boolean isOver() {
    return quietTicks >= LAST_TICKS && budget == BURST;
  }
}
