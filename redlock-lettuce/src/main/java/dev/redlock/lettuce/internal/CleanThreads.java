package dev.redlock.lettuce.internal;

import io.lettuce.core.resource.ThreadFactoryProvider;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;

/**
 * Makes the threads of Lettuce without anything of the thread that happens to make them. Otherwise
 * a thread that begins in a request keeps the inheritable thread locals of the request, such as its
 * user, and the class loader of its application, for as long as the client lives.
 *
 * <p>The threads are Netty's own, for which {@code FastThreadLocal} is fast. Such a thread always
 * inherits. So another thread makes it, which has inherited nothing.
 */
final class CleanThreads implements ThreadFactoryProvider {
  @Override
  public ThreadFactory getThreadFactory(String poolName) {
    ThreadFactory factory = new DefaultThreadFactory(poolName, true);
    return task -> madeElsewhere(factory, task);
  }

  private static Thread madeElsewhere(ThreadFactory factory, Runnable task) {
    CompletableFuture<Thread> made = new CompletableFuture<>();
    Thread maker =
        new Thread(
            null,
            () -> {
              try {
                made.complete(factory.newThread(task));
              } catch (Throwable e) {
                made.completeExceptionally(e);
              }
            },
            "lettuce-thread-maker",
            0,
            false);
    maker.setDaemon(true);
    maker.setContextClassLoader(CleanThreads.class.getClassLoader());
    maker.start();
    return made.join();
  }
}
