package dev.redlock.internal;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Makes the thread pools of the client. Their threads are daemons, and end when they are idle. */
final class DaemonThreads {
  /** The number of threads of a pool while none of them blocks. */
  private static final int FEW = Math.max(2, Runtime.getRuntime().availableProcessors());

  /**
   * Since Java 24 a virtual thread that blocks in a monitor releases its carrier. Before, a few
   * callbacks that block in {@code synchronized} would occupy all carriers of the process.
   */
  private static final int VIRTUAL_FROM = 24;

  private DaemonThreads() {}

  /** A pool of a few threads with an unbounded queue. It never rejects a task. */
  static ThreadPoolExecutor few(ThreadFactory factory) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            FEW, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /**
   * Lets each thread end as soon as it is idle. The pool starts a new thread for a late task: if it
   * rejected the task, a caller would wait for ever.
   */
  static void endWhenIdle(ThreadPoolExecutor pool) {
    pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
  }

  /** Platform threads. */
  static ThreadFactory platform(String prefix) {
    return new ThreadFactoryBuilder()
        .setThreadFactory(Thread::new) // The default keeps the group of the current thread.
        .setNameFormat(prefix + "%d")
        .setDaemon(true)
        .build();
  }

  /** Virtual threads from Java 24 on, platform threads before. */
  static ThreadFactory lightest(String prefix) {
    ThreadFactory virtual = Runtime.version().feature() >= VIRTUAL_FROM ? virtual(prefix) : null;
    return virtual != null ? virtual : platform(prefix);
  }

  /** {@code Thread.ofVirtual().name(prefix, 0).factory()}; this class is compiled for Java 17. */
  private static @Nullable ThreadFactory virtual(String prefix) {
    try {
      Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      type.getMethod("name", String.class, long.class).invoke(builder, prefix, 0L);
      return (ThreadFactory) type.getMethod("factory").invoke(builder);
    } catch (ReflectiveOperationException e) {
      return null; // Platform threads work too.
    }
  }
}
