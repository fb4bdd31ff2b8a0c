package dev.redlock.internal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A result that one side sets once and the other side takes, or gives up waiting for. Lighter than
 * a future: the thread that sets the result unparks the waiting threads directly.
 */
class Completion<T> {
  private static final Object GIVEN_UP = new Object();
  private static final VarHandle OUTCOME;
  private static final VarHandle WAITERS;

  static {
    try {
      OUTCOME = MethodHandles.lookup().findVarHandle(Completion.class, "outcome", Object.class);
      WAITERS = MethodHandles.lookup().findVarHandle(Completion.class, "waiters", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private record Failure(RuntimeException exception) {}

  /** Two or more threads that wait: two threads may close one lease. */
  private record Waiters(Thread thread, Object others) {}

  /** Written once: by the side that sets the result, or the one that gives up. Read by takers. */
  private volatile @Nullable Object outcome;

  /**
   * Null, a thread, or {@link Waiters}. Each taker adds itself before it parks; the setting side
   * reads it after it wrote the outcome.
   */
  private volatile @Nullable Object waiters;

  final void waiter(Thread thread) {
    Object others;
    do {
      others = waiters;
      if (others == thread) {
        return; // It waits again.
      }
    } while (!WAITERS.compareAndSet(
        this, others, others == null ? thread : new Waiters(thread, others)));
  }

  final boolean isDone() {
    return outcome != null;
  }

  /** Sets the result; false if the taker has given up, or a result was set before. */
  final boolean succeed(T value) {
    return set(value);
  }

  /** Sets a failure; false if the taker has given up, or a result was set before. */
  final boolean fail(RuntimeException exception) {
    return set(new Failure(exception));
  }

  /** The taker gives up; false if there is a result already, which the taker must then handle. */
  final boolean giveUp() {
    return OUTCOME.compareAndSet(this, null, GIVEN_UP);
  }

  private boolean set(Object result) {
    if (!OUTCOME.compareAndSet(this, null, result)) {
      return false;
    }
    Object waiting = waiters;
    while (waiting instanceof Waiters several) {
      LockSupport.unpark(several.thread());
      waiting = several.others();
    }
    LockSupport.unpark((Thread) waiting); // Does nothing for null.
    return true;
  }

  /** The result, or the failure as an exception. Only when {@link #isDone}. */
  @SuppressWarnings("unchecked")
  final T result() {
    Object o = outcome;
    if (o instanceof Failure failure) {
      throw failure.exception();
    }
    if (o == null || o == GIVEN_UP) {
      throw new IllegalStateException("no result");
    }
    return (T) o;
  }

  /** The failure, or null. */
  final @Nullable RuntimeException failure() {
    return outcome instanceof Failure failure ? failure.exception() : null;
  }
}
