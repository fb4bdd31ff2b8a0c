package dev.redlock.internal;

import dev.redlock.spi.Time;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Threads for user code that do not run out. Callbacks that return soon share a few threads: a pool
 * that starts a thread whenever all others are busy would start a thousand threads for a burst of a
 * thousand completions. For each callback that blocks, the pool may have two threads more.
 *
 * <p>While callbacks wait for a thread, a check runs every 10 ms and counts the blocked callbacks:
 * those that were running at the previous check. So a callback that comes while all threads are
 * blocked begins within two checks.
 */
final class CallbackThreads implements Executor {
  private static final long CHECK_NANOS = 10_000_000;

  /** Set while the current thread calls the user's executor; null otherwise. */
  private static final ThreadLocal<Boolean> CALLING = new ThreadLocal<>();

  private final ThreadPoolExecutor threads;

  /** The number of threads while none of them blocks. */
  private final int few;

  private final Set<Call> running = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean checking = new AtomicBoolean();
  private final Time time;
  private final FailureLog failures;

  /** Written by {@link #close}, read by checks. */
  private volatile boolean closed;

  /** The number of checks. Written by the check, of which there is one at a time; read by calls. */
  private volatile long checks;

  CallbackThreads(ThreadPoolExecutor threads, Time time, FailureLog failures) {
    this.threads = threads;
    few = threads.getCorePoolSize();
    this.time = time;
    this.failures = failures;
  }

  /**
   * The executor that the user configured, or these threads if it is null. What that executor
   * rejects, also by an exception, runs on these threads, exactly once: a caller waits for it, and
   * the current thread may be a node's I/O thread. The executor that is returned never throws.
   */
  Executor preferring(@Nullable Executor given) {
    if (given == null) {
      return this;
    }
    return callback -> {
      AtomicBoolean begun = new AtomicBoolean(); // An executor may throw after it took the task.
      Runnable once =
          () -> {
            if (begun.compareAndSet(false, true)) {
              run(callback);
            }
          };
      boolean outermost = CALLING.get() == null;
      if (outermost) {
        CALLING.set(true);
      }
      try {
        given.execute(once);
      } catch (Throwable e) {
        failures.report("the callback executor", e);
        execute(once);
      } finally {
        if (outermost) {
          CALLING.remove();
        }
      }
    };
  }

  /**
   * Whether this thread is calling the user's executor, which may run the callback on it. Nodes and
   * actors that need this thread wait until the callback returns.
   */
  static boolean isOnCallersThread() {
    return CALLING.get() != null;
  }

  /** Runs the callback, soon. Never throws, and never runs it on the caller's thread. */
  @Override
  public void execute(Runnable callback) {
    Call call = new Call(callback);
    try {
      threads.execute(call);
    } catch (Throwable e) { // The JVM started no thread. A running thread takes it, or a later one.
      failures.report("starting a callback thread", e);
      threads.getQueue().add(call);
    }
    checkIfAnyWaits();
  }

  private void checkIfAnyWaits() {
    if (!threads.getQueue().isEmpty() && checking.compareAndSet(false, true)) {
      time.schedule(this::check, CHECK_NANOS);
    }
  }

  private void check() {
    try {
      long now = checks;
      int blocked = 0;
      for (Call call : running) {
        blocked += call.begunAt < now ? 1 : 0;
      }
      checks = now + 1;
      int wanted = few + 2 * blocked;
      if (closed) {
        return;
      }
      if (threads.getCorePoolSize() != wanted) {
        threads.setCorePoolSize(wanted); // Starts a thread for each callback that waits.
      } else if (threads.getPoolSize() == 0) {
        threads.prestartCoreThread();
      }
    } catch (Throwable e) {
      failures.report("starting a callback thread", e);
    } finally {
      checking.set(false);
    }
    checkIfAnyWaits();
  }

  /** The client is closed, and its timers with it. Each late callback gets a thread of its own. */
  void close() {
    closed = true;
    DaemonThreads.endWhenIdle(threads);
    threads.setCorePoolSize(Integer.MAX_VALUE);
  }

  List<Thread> livingThreads() {
    return DaemonThreads.living(threads);
  }

  private void run(Runnable callback) {
    try {
      callback.run();
    } catch (Throwable e) {
      failures.report("a callback", e);
    }
  }

  private final class Call implements Runnable {
    private final Runnable callback;

    /** Written before the call is in the set, read by the check that finds it there. */
    private long begunAt;

    Call(Runnable callback) {
      this.callback = callback;
    }

    @Override
    public void run() {
      begunAt = checks;
      running.add(this);
      try {
        CallbackThreads.this.run(callback);
      } finally {
        running.remove(this);
      }
    }
  }
}
