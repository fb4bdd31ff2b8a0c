package dev.redlock.lettuce.internal;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs what may block: the lookup of a host name, and suppliers and files of the user.
 *
 * <p>An event loop or a timer carries several nodes. If one of them runs such a call, and the call
 * hangs, all these nodes are silent. In a pool of threads the calls for other nodes would wait
 * behind those that hang. So each call has a daemon thread of its own, and at most {@value
 * #MAX_EACH} calls with one subject run at a time; further ones fail at once. A call that hangs for
 * ever so costs its node one of these threads, and other nodes nothing. Safe from any thread.
 */
final class BlockingCalls {
  static final int MAX_EACH = 3;

  private final Executor threads;

  /** The calls that have not returned, by their thread. Guarded by this. */
  private final Map<Thread, Call> underWay = new HashMap<>();

  /** How many calls each subject has, also those that have no thread yet. Guarded by this. */
  private final Map<String, Integer> counts = new HashMap<>();

  private boolean closed; // Guarded by this.

  private record Call(String subject, CompletableFuture<?> result) {}

  /**
   * @param threads runs each task on a thread of its own
   */
  BlockingCalls(Executor threads) {
    this.threads = threads;
  }

  /**
   * Begins a call.
   *
   * @param subject what is called, for people
   * @return what the call's stage completes with; a failure if it cannot begin, never an exception
   */
  <T> CompletableFuture<T> call(String subject, Callable<? extends CompletionStage<T>> task) {
    CompletableFuture<T> result = new CompletableFuture<>();
    synchronized (this) {
      int running = counts.getOrDefault(subject, 0);
      if (closed || running == MAX_EACH) {
        String why = closed ? "the client is closed" : hangs(subject);
        return CompletableFuture.failedFuture(new IOException(why));
      }
      counts.put(subject, running + 1);
    }
    try {
      threads.execute(() -> run(new Call(subject, result), task, result));
    } catch (RuntimeException | Error e) { // For example, there is no memory for another thread.
      ended(subject);
      result.completeExceptionally(e);
    }
    return result;
  }

  /** Runs tasks as calls without a result; rejects them where a call would fail. */
  Executor executor(String subject) {
    return task -> {
      CompletableFuture<Void> done =
          call(
              subject,
              () -> {
                task.run();
                return CompletableFuture.completedStage(null);
              });
      if (done.isCompletedExceptionally()) {
        throw new RejectedExecutionException(hangs(subject));
      }
    };
  }

  private <T> void run(
      Call call, Callable<? extends CompletionStage<T>> task, CompletableFuture<T> result) {
    synchronized (this) {
      underWay.put(Thread.currentThread(), call);
      if (closed) { // Meanwhile.
        close();
      }
    }
    try {
      if (result.isDone()) {
        return;
      }
      task.call()
          .whenComplete(
              (value, failure) -> {
                if (failure == null) {
                  result.complete(value);
                } else {
                  result.completeExceptionally(failure);
                }
              });
    } catch (Exception | Error e) {
      result.completeExceptionally(e);
    } finally {
      synchronized (this) {
        underWay.remove(Thread.currentThread());
      }
      ended(call.subject);
    }
  }

  private synchronized void ended(String subject) {
    counts.computeIfPresent(subject, (same, count) -> count == 1 ? null : count - 1);
  }

  /** Which calls have not returned, as the end of a sentence; empty if there are none. */
  synchronized String pending() {
    return counts.isEmpty() ? "" : ": " + hangs(String.join(", ", counts.keySet()));
  }

  private static String hangs(String subject) {
    return subject + " has not returned";
  }

  /** Fails the calls under way, and then interrupts their threads, which would fail them too. */
  synchronized void close() {
    closed = true;
    underWay.forEach(
        (thread, call) -> {
          call.result.completeExceptionally(new IOException("the client is closed"));
          thread.interrupt();
        });
  }
}
