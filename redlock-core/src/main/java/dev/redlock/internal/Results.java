package dev.redlock.internal;

import static java.util.Objects.requireNonNull;

import com.google.common.util.concurrent.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * How callers get a result. Inside of the client it is a future that no user gets: its dependents
 * run on the thread that sets it, which may be that of a lock's actor.
 */
final class Results {
  private static final StackTraceElement[] NO_TRACE = {};

  private Results() {}

  /**
   * The result of a future that is done, or its failure as an exception with the trace of this
   * thread.
   */
  static <T> T of(CompletableFuture<T> done) {
    return requireNonNull(valueOf(done));
  }

  /** As {@link #of}, for a future without a value. */
  static void check(CompletableFuture<Void> done) {
    var unused = valueOf(done);
  }

  private static <T> @Nullable T valueOf(CompletableFuture<T> done) {
    try {
      return Futures.getDone(done);
    } catch (ExecutionException e) {
      RuntimeException failure = (RuntimeException) requireNonNull(e.getCause());
      failure.fillInStackTrace();
      throw failure;
    }
  }

  /**
   * The failure without its trace. The thread that makes it is one of the client, and its trace
   * would be 40 lines in the log of an application that say nothing of the call.
   */
  static <E extends RuntimeException> E untraced(E failure) {
    failure.setStackTrace(NO_TRACE);
    return failure;
  }

  /** Completes the future of a user with the result, on this executor. */
  static <T> void relay(
      CompletableFuture<T> result, CompletableFuture<T> users, Executor executor) {
    var unused =
        result.whenCompleteAsync(
            (value, failure) -> {
              if (failure != null) {
                users.completeExceptionally(failure);
              } else {
                users.complete(value);
              }
            },
            executor);
  }
}
