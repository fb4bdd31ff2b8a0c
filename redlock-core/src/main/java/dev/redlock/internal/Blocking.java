package dev.redlock.internal;

import dev.redlock.spi.Time;

/**
 * The only place where a caller's thread waits. It parks, so that a virtual thread releases its
 * carrier. Safe from any thread.
 */
final class Blocking {
  private final Platform platform;
  private final Time time;

  Blocking(Platform platform, Time time) {
    this.platform = platform;
    this.time = time;
  }

  /** Waits until done; false if the thread was interrupted, with its flag cleared. */
  boolean await(Completion<?> completion) {
    completion.waiter(Thread.currentThread());
    while (!completion.isDone()) {
      if (Thread.interrupted()) {
        return false;
      }
      platform.park(completion);
    }
    return true;
  }

  /**
   * Waits until done or the time has passed; false if the thread was interrupted, with its flag
   * cleared.
   */
  boolean await(Completion<?> completion, long nanos) {
    completion.waiter(Thread.currentThread());
    long start = time.nanos();
    for (long left = nanos; !completion.isDone() && left > 0; ) {
      if (Thread.interrupted()) {
        return false;
      }
      platform.park(completion, left);
      left = nanos - (time.nanos() - start);
    }
    return true;
  }

  /** Waits until done or the time has passed; keeps the thread's interrupt flag. */
  void awaitUninterruptibly(Completion<?> completion, long nanos) {
    long start = time.nanos();
    boolean interrupted = false;
    while (!await(completion, nanos - (time.nanos() - start))) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
