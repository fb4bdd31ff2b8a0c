package dev.redlock.internal;

import dev.redlock.spi.Time;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * The only place where a caller's thread waits. It parks, so that a virtual thread releases its
 * carrier. Safe from any thread.
 */
record Blocking(Platform platform, Time time) {

  /** Waits until done; false if the thread was interrupted, with its flag cleared. */
  boolean await(CompletableFuture<?> result) {
    unparkAt(result);
    while (!result.isDone()) {
      if (Thread.interrupted()) {
        return false;
      }
      platform.park(result);
    }
    return true;
  }

  /**
   * Waits until done or the time has passed; false if the thread was interrupted, with its flag
   * cleared.
   */
  boolean await(CompletableFuture<?> result, long nanos) {
    unparkAt(result);
    return park(result, nanos);
  }

  private boolean park(CompletableFuture<?> result, long nanos) {
    long start = time.nanos();
    for (long left = nanos; !result.isDone() && left > 0; ) {
      if (Thread.interrupted()) {
        return false;
      }
      platform.park(result, left);
      left = nanos - (time.nanos() - start);
    }
    return true;
  }

  /** Unparks the current thread when the result is there; called before the result is checked. */
  private static void unparkAt(CompletableFuture<?> result) {
    Thread waiter = Thread.currentThread();
    var unused = result.whenComplete((value, failure) -> LockSupport.unpark(waiter));
  }

  /** Parks for about this time by the machine's clock; returns at once if interrupted. */
  void pause(long nanos) {
    platform.park(new CompletableFuture<>(), nanos);
  }

  /** Waits until done; keeps the thread's interrupt flag. */
  void awaitUninterruptibly(CompletableFuture<?> result) {
    awaitUninterruptibly(result, Long.MAX_VALUE);
  }

  /** Waits until done or the time has passed; keeps the thread's interrupt flag. */
  void awaitUninterruptibly(CompletableFuture<?> result, long nanos) {
    unparkAt(result); // Once, however often the thread is interrupted.
    long start = time.nanos();
    boolean interrupted = false;
    while (!park(result, nanos - (time.nanos() - start))) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
