package dev.redlock.lettuce.internal;

import com.google.common.base.Throwables;
import com.google.common.util.concurrent.Uninterruptibles;
import io.lettuce.core.resource.ThreadFactoryProvider;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;

/**
 * Makes the threads of Lettuce without anything of the thread that happens to make them. Otherwise
 * a thread that begins in a request keeps the inheritable thread locals of the request, such as its
 * user, and the class loader of its application, for as long as the client lives.
 *
 * <p>The threads are Netty's own, for which {@code FastThreadLocal} is fast. Such a thread always
 * inherits. So another thread makes it, which has inherited nothing.
 */
public final class CleanThreads implements ThreadFactoryProvider {
  /** The threads that were made, without some that have ended. */
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

  CleanThreads() {}

  @Override
  public ThreadFactory getThreadFactory(String poolName) {
    ThreadFactory factory = new DefaultThreadFactory(poolName, true);
    return task -> {
      Thread made = call(() -> factory.newThread(task));
      threads.removeIf(known -> known.getState() == Thread.State.TERMINATED);
      threads.add(made);
      return made;
    };
  }

  boolean haveEnded() {
    return threads.stream().noneMatch(Thread::isAlive);
  }

  /** Waits for the end of each thread, for this time at most. */
  void awaitEnd(long millis) throws InterruptedException {
    for (Thread thread : threads) {
      thread.join(millis);
    }
  }

  /**
   * Runs the task on a new thread, and returns when it has ended. Netty leaves objects in the
   * thread locals of each thread that uses it beside its event loops. In a thread of a container
   * they would keep the class loader of the application reachable for ever.
   */
  public static <T> T call(Supplier<T> task) {
    Thread current = Thread.currentThread();
    if (current instanceof FastThreadLocalThread || current instanceof CleanThread) {
      return task.get(); // Such a thread removes them when it ends.
    }
    CompletableFuture<T> done = new CompletableFuture<>();
    Thread thread =
        start(
            "lettuce-caller",
            () -> {
              try {
                done.complete(task.get());
              } catch (Throwable e) {
                done.completeExceptionally(e);
              }
            });
    Uninterruptibles.joinUninterruptibly(thread);
    try {
      return done.join();
    } catch (CompletionException e) {
      Throwables.throwIfUnchecked(e.getCause() == null ? e : e.getCause());
      throw e;
    }
  }

  /** The same for a task without a result. */
  public static void run(Runnable task) {
    var unused =
        call(
            () -> {
              task.run();
              return true;
            });
  }

  /** Waits for the future, on a thread that has nothing else to do. */
  static <T> T await(Future<T> future) throws Exception {
    return future.get();
  }

  /** Starts a daemon thread that has inherited nothing. */
  static Thread start(String name, Runnable task) {
    Thread thread = new CleanThread(task, name);
    thread.start();
    return thread;
  }

  private static final class CleanThread extends Thread {
    CleanThread(Runnable task, String name) {
      super(null, task, name, 0, false);
      setDaemon(true);
      setContextClassLoader(CleanThreads.class.getClassLoader());
    }
  }
}
