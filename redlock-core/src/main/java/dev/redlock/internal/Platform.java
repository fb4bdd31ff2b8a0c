package dev.redlock.internal;

import dev.redlock.internal.protocol.Randomness;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.Time;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;

/**
 * What a client takes from the JVM beside its clocks and timers: threads, waiting, random numbers,
 * the log of foreign failures. The simulator replaces it, so that a seed decides all of it.
 */
class Platform {
  // The thread of CompletableFuture.delayedExecutor would keep the class loader of its maker.
  private static final ScheduledThreadPoolExecutor LATE = lateTasks();

  static final Platform JVM = new Platform();

  /**
   * @param suffix what follows each lease id
   * @param clock the clock of the machine, which runs on in each copy of this process
   */
  Randomness randomness(String suffix, Time clock) {
    return new SecureRandomness(suffix, new SecureRandom(), clock::nanos);
  }

  FailureLog failures(Logger log) {
    return new FailureLog(log);
  }

  /** The threads that continue with the actor of a lock. */
  ThreadPoolExecutor queueThreads() {
    return DaemonThreads.few(DaemonThreads.platform("redlock-queue-"));
  }

  /** The threads for user code. */
  ThreadPoolExecutor callbackThreads() {
    return DaemonThreads.few(DaemonThreads.lightest("redlock-callback-"));
  }

  /** A thread that closes a client; the caller starts it. */
  Thread closingThread(Runnable task) {
    return DaemonThreads.platform("redlock-close-").newThread(task);
  }

  LockActor actor(ClientContext context, LockKeys keys) {
    return new LockActor(context, keys);
  }

  /** Parks the current thread until it is unparked or interrupted; may return earlier. */
  void park(CompletableFuture<?> until) {
    LockSupport.park(until);
  }

  /** The same, for this time at most. */
  void park(CompletableFuture<?> until, long nanos) {
    LockSupport.parkNanos(until, nanos);
  }

  /** Runs a short task after this time, also if all clients are closed. */
  Time.Cancellable runLater(Runnable task, long nanos) {
    ScheduledFuture<?> late = LATE.schedule(task, nanos, TimeUnit.NANOSECONDS);
    return () -> late.cancel(false);
  }

  /** One thread of all clients. It ends when no task waits. */
  private static ScheduledThreadPoolExecutor lateTasks() {
    ScheduledThreadPoolExecutor tasks =
        new ScheduledThreadPoolExecutor(1, DaemonThreads.platform("redlock-late-"));
    tasks.setRemoveOnCancelPolicy(true);
    tasks.setKeepAliveTime(100, TimeUnit.MILLISECONDS);
    tasks.allowCoreThreadTimeOut(true);
    return tasks;
  }
}
