package dev.redlock.internal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Makes the thread pools of the client. Their threads are daemons, and end when they are idle. */
final class DaemonThreads {
  /** The number of threads of a pool while none of them blocks. */
  static final int FEW = Math.max(2, Runtime.getRuntime().availableProcessors());

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
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, prefix + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Virtual threads from Java 24 on, platform threads before. */
  static ThreadFactory lightest(String prefix) {
    ThreadFactory virtual = Runtime.version().feature() >= VIRTUAL_FROM ? virtual(prefix) : null;
    return virtual != null ? virtual : platform(prefix);
  }

  /** {@code Thread.ofVirtual().name(prefix, 1).factory()}; this class is compiled for Java 17. */
  private static @Nullable ThreadFactory virtual(String prefix) {
    try {
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      Class<?> builder = Class.forName("java.lang.Thread$Builder$OfVirtual");
      MethodHandle make =
          lookup.findStatic(Thread.class, "ofVirtual", MethodType.methodType(builder));
      MethodHandle name =
          lookup.findVirtual(
              builder, "name", MethodType.methodType(builder, String.class, long.class));
      MethodHandle factory =
          lookup.findVirtual(builder, "factory", MethodType.methodType(ThreadFactory.class));
      return (ThreadFactory) factory.invoke(name.invoke(make.invoke(), prefix, 1L));
    } catch (Throwable e) {
      return null; // Platform threads work too.
    }
  }
}
