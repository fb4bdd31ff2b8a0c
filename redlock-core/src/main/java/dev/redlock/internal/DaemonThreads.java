package dev.redlock.internal;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Makes the thread pools of the client. Their threads are daemons, and end when they are idle. They
 * take nothing from the thread that happens to make them, which may serve a request: neither its
 * inheritable thread locals nor its context class loader. Theirs is the loader of this library.
 */
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

  /** The threads of the pool that have not ended. Empty if their factory is not of this class. */
  static List<Thread> living(ThreadPoolExecutor pool) {
    return pool.getThreadFactory() instanceof Known known ? known.living() : List.of();
  }

  static ThreadFactory platform(String prefix) {
    AtomicInteger number = new AtomicInteger();
    return new Known(
        task -> {
          Thread thread = new Thread(null, task, prefix + number.getAndIncrement(), 0, false);
          thread.setDaemon(true);
          return thread;
        });
  }

  /** Virtual threads from Java 24 on, platform threads before. */
  static ThreadFactory lightest(String prefix) {
    ThreadFactory virtual = Runtime.version().feature() >= VIRTUAL_FROM ? virtual(prefix) : null;
    return virtual != null ? virtual : platform(prefix);
  }

  /** By {@code Thread.ofVirtual()}; this class is compiled for Java 17. */
  private static @Nullable ThreadFactory virtual(String prefix) {
    try {
      Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      type.getMethod("name", String.class, long.class).invoke(builder, prefix, 0L);
      type.getMethod("inheritInheritableThreadLocals", boolean.class).invoke(builder, false);
      return new Known((ThreadFactory) type.getMethod("factory").invoke(builder));
    } catch (ReflectiveOperationException e) {
      return null; // Platform threads work too.
    }
  }

  /** Knows the threads that it made and that have not ended. */
  private static final class Known implements ThreadFactory {
    private static final int FORGET_FROM = 16;

    private final ThreadFactory maker;
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    /** How many threads are known when those that have ended are forgotten. Races do no harm. */
    private volatile int forgetAt = FORGET_FROM;

    Known(ThreadFactory maker) {
      this.maker = maker;
    }

    @Override
    public Thread newThread(Runnable task) {
      Thread thread = maker.newThread(task);
      thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
      if (threads.size() >= forgetAt) {
        threads.removeIf(known -> known.getState() == Thread.State.TERMINATED);
        forgetAt = 2 * threads.size() + FORGET_FROM;
      }
      threads.add(thread);
      return thread;
    }

    List<Thread> living() {
      return threads.stream().filter(Thread::isAlive).toList();
    }
  }
}
