package dev.redlock.lettuce.internal;

import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The threads of several nodes. Threads of the user are never closed. Own threads begin with the
 * first node that starts and end with the last node that closes.
 */
public final class SharedResources {
  /** For the shutdown of threads that have nothing left to do. */
  private static final long SHUTDOWN_MILLIS = 2_000;

  private static final int GLOBAL_EXECUTOR_TRIES = 10;
  private static final long GLOBAL_EXECUTOR_MILLIS = 10;

  private final boolean own;
  private final Executor blocking;

  // Guarded by this.
  private @Nullable ClientResources resources;
  private CleanThreads threads = new CleanThreads();
  private int users;
  private int closing;
  private @Nullable Thread shutdown;

  public SharedResources(@Nullable ClientResources given) {
    this(given, task -> CleanThreads.start("lettuce-blocking", task));
  }

  /** The same, with threads for what may block. */
  SharedResources(@Nullable ClientResources given, Executor blocking) {
    this.own = given == null;
    this.resources = given;
    this.blocking = blocking;
  }

  /** Runs each task, which may block, on a thread of its own. */
  Executor blocking() {
    return blocking;
  }

  public synchronized ClientResources acquire() {
    NettyVersions.check();
    ClientResources known = resources;
    if (known == null) {
      threads = new CleanThreads();
      // Measuring a command costs more than encoding it. A user who wants Lettuce's metrics passes
      // ClientResources.
      known =
          ClientResources.builder()
              .threadFactoryProvider(threads)
              .timer(SharedTimer.acquire())
              .commandLatencyRecorder(CommandLatencyRecorder.disabled())
              .build();
      resources = known;
    }
    users++;
    return known;
  }

  /**
   * A user needs them no longer.
   *
   * @param closed completes when that user is closed; never fails
   */
  public void release(CompletionStage<?> closed) {
    synchronized (this) {
      closing++;
    }
    closed.whenComplete((done, failure) -> release());
  }

  private synchronized void release() {
    closing--;
    users--;
    ClientResources last = resources;
    if (users == 0 && own && last != null) {
      resources = null;
      // A thread of its own: the current one may be one of those that end.
      CleanThreads ending = threads;
      shutdown = CleanThreads.start("lettuce-shutdown", () -> shutDown(last, ending));
    }
  }

  /** Whether no user is about to release them, and the threads have ended if all users are gone. */
  public synchronized boolean areQuiet() {
    Thread ending = shutdown;
    return closing == 0
        && (users > 0 || ((ending == null || !ending.isAlive()) && threads.haveEnded()));
  }

  private static void shutDown(ClientResources resources, CleanThreads threads) {
    try {
      try {
        var unused = resources.shutdown(0, 1, TimeUnit.SECONDS);
        threads.awaitEnd(SHUTDOWN_MILLIS);
      } finally {
        SharedTimer.release();
      }
      endGlobalExecutor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // No thread interrupts this one.
    }
  }

  /**
   * Netty's global executor has told of the end of the event loops. Its thread would wait for more
   * tasks for a second. An interrupt ends it at once if there are none, and otherwise changes
   * nothing.
   */
  private static void endGlobalExecutor() throws InterruptedException {
    boolean ended = false;
    for (int i = 0; i < GLOBAL_EXECUTOR_TRIES && !ended; i++) {
      GlobalEventExecutor.INSTANCE.execute(() -> Thread.currentThread().interrupt());
      ended =
          GlobalEventExecutor.INSTANCE.awaitInactivity(
              GLOBAL_EXECUTOR_MILLIS, TimeUnit.MILLISECONDS);
    }
  }
}
