package dev.redlock.vertx.internal;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs, one after another, what loads many classes: building a client (0.7 s in a new JVM, most of
 * it Lettuce and Netty) and the first calls. An event loop must not wait for that. The thread ends
 * when it is idle.
 */
final class ColdThread implements Executor {
  private static final long IDLE_MILLIS = 500;

  private final ThreadPoolExecutor thread =
      new ThreadPoolExecutor(
          1,
          1,
          IDLE_MILLIS,
          TimeUnit.MILLISECONDS,
          new LinkedBlockingQueue<>(),
          ColdThread::thread);

  ColdThread() {
    thread.allowCoreThreadTimeOut(true);
  }

  private static Thread thread(Runnable task) {
    return daemon(task, "redlock-vertx-start");
  }

  /**
   * A daemon thread with the class loader of this library, without inheritable thread locals. The
   * loader of the calling thread may belong to one of several applications, and may not see the
   * services of Lettuce and Netty.
   */
  static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(null, task, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(ColdThread.class.getClassLoader());
    return thread;
  }

  @Override
  public void execute(Runnable task) {
    thread.execute(task);
  }
}
