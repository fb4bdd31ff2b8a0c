package dev.redlock.internal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A result that one side gives once and another takes, or gives up. Lighter than a future: a
 * blocked thread is woken straight from the thread that has the result, with nothing in between.
 */
class Completion<T> {
  private static final Object GIVEN_UP = new Object();
  private static final VarHandle OUTCOME;

  static {
    try {
      OUTCOME = MethodHandles.lookup().findVarHandle(Completion.class, "outcome", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private record Failure(RuntimeException exception) {}

  /** Written once, by whoever wins: the giver or the one who gives up. Read by the taker. */
  private volatile @Nullable Object outcome;

  /** Written by the taker before it parks, read by the giver after it wrote the outcome. */
  private volatile @Nullable Thread waiter;

  final void waiter(Thread thread) {
    waiter = thread;
  }

  final boolean isDone() {
    return outcome != null;
  }

  /** Gives the result; false if the taker has given up, or it was given before. */
  final boolean succeed(T value) {
    return give(value);
  }

  /** Gives a failure; false if the taker has given up, or a result was given before. */
  final boolean fail(RuntimeException exception) {
    return give(new Failure(exception));
  }

  /** The taker gives up; false if there is a result already, which the taker then has to handle. */
  final boolean giveUp() {
    return OUTCOME.compareAndSet(this, null, GIVEN_UP);
  }

  private boolean give(Object result) {
    if (!OUTCOME.compareAndSet(this, null, result)) {
      return false;
    }
    Thread thread = waiter;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
    return true;
  }

  /** The result; only once {@link #isDone}. */
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
