package dev.redlock.election;

import com.google.common.util.concurrent.MoreExecutors;
import dev.redlock.election.LeaderElection.Listener;
import dev.redlock.internal.election.ElectionClient;
import dev.redlock.spi.Time;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The serial queue of an election, and what leaves it: calls of user code, timers, events for the
 * listener, lines of the log. An event runs on the thread that brings one; user code never runs in
 * the queue, and its results come back as events.
 */
final class ElectionQueue {
  private static final Logger LOG = LoggerFactory.getLogger("dev.redlock.Redlock");

  private final ElectionClient client;
  private final String name;
  private final Listener listener;
  private final Executor user;
  private final Executor listeners;
  private final Executor queue =
      MoreExecutors.newSequentialExecutor(MoreExecutors.directExecutor());

  /**
   * @param name of the lock, as in logs
   * @param executor of user code; null for the threads of the client
   */
  ElectionQueue(
      ElectionClient client, String name, Listener listener, @Nullable Executor executor) {
    this.client = client;
    this.name = name;
    this.listener = listener;
    user = client.executor(executor);
    listeners = MoreExecutors.newSequentialExecutor(user);
  }

  /** Runs the event after those before it. Safe from any thread. */
  void run(Runnable event) {
    queue.execute(
        () -> {
          try {
            event.run();
          } catch (Throwable e) {
            client.report("an event of an election", name, e);
          }
        });
  }

  /** Runs the task on the executor of user code. */
  void runOutside(Runnable task) {
    user.execute(task);
  }

  /** User code that may complete later. */
  interface Call {
    @Nullable CompletionStage<?> run() throws Exception;
  }

  /** Calls user code on its executor, and handles its failure, or null, in the queue. */
  void call(Call callback, Consumer<@Nullable Throwable> then) {
    user.execute(() -> callHere(callback, then));
  }

  /** The same, on this thread. */
  void callHere(Call callback, Consumer<@Nullable Throwable> then) {
    CompletionStage<?> stage;
    try {
      stage = callback.run();
    } catch (Throwable e) {
      run(() -> then.accept(e));
      return;
    }
    if (stage == null) {
      run(() -> then.accept(new NullPointerException("the callback returned null")));
    } else {
      stage.whenComplete(
          (done, failure) -> run(() -> then.accept(failure == null ? null : unwrap(failure))));
    }
  }

  static Throwable unwrap(Throwable failure) {
    Throwable cause = failure.getCause();
    return failure instanceof CompletionException && cause != null ? cause : failure;
  }

  // The log and the listener.

  /**
   * Logs a line about this election.
   *
   * @param kind see {@link ElectionClient#log}
   */
  void log(boolean warning, String kind, Supplier<String> line) {
    client.log(warning, kind, () -> "election on " + name + ": " + line.get());
  }

  /** Logs a failure and tells the listener. Never throws: what follows must end the tenure. */
  void report(Throwable failure) {
    try {
      LOG.warn("the election on {} failed", name, failure);
    } catch (Throwable e) { // A logger is foreign code too, and so is what it prints.
      client.report("logging a failure of an election", name, e);
    }
    tell(l -> l.onFailure(failure));
  }

  void tell(Consumer<Listener> event) {
    listeners.execute(
        () -> {
          try {
            event.accept(listener);
          } catch (Throwable e) {
            client.report("a listener of an election", name, e);
          }
        });
  }

  /** A timer whose task runs in the queue. Confined to the queue. */
  final class Timer {
    private Time.@Nullable Cancellable armed;

    /** Runs the task after this time, in place of the task before it. */
    void arm(long delayNanos, Runnable task) {
      disarm();
      armed = client.schedule(() -> run(task), Math.max(0, delayNanos));
    }

    void disarm() {
      Time.Cancellable before = armed;
      armed = null;
      if (before != null) {
        before.cancel();
      }
    }
  }
}
