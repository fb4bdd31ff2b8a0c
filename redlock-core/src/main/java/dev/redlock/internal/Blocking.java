package dev.redlock.internal;

import java.util.concurrent.locks.LockSupport;

/**
 * The one place where a thread of a caller waits. Parks, so that a virtual thread gives up its
 * carrier.
 */
final class Blocking {
  private Blocking() {}

  /**
   * Waits until done, or the thread is interrupted; the flag is then cleared and false returned.
   */
  static boolean await(Completion<?> completion) {
    completion.waiter(Thread.currentThread());
    while (!completion.isDone()) {
      if (Thread.interrupted()) {
        return false;
      }
      LockSupport.park(completion);
    }
    return true;
  }

  /** Waits until done or the time has passed; keeps the thread's interrupt flag. */
  static void awaitUninterruptibly(
      Completion<?> completion, long nanos, dev.redlock.spi.Time time) {
    completion.waiter(Thread.currentThread());
    long start = time.nanos();
    boolean interrupted = false;
    for (long left = nanos; !completion.isDone() && left > 0; ) {
      LockSupport.parkNanos(completion, left);
      interrupted |= Thread.interrupted();
      left = nanos - (time.nanos() - start);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
