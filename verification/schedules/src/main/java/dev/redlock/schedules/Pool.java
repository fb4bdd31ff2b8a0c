package dev.redlock.schedules;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Takes the place of a pool with an unbounded queue: as many threads as the core size, and they end
 * when there is nothing to do. Its threads are under control.
 */
public final class Pool extends ThreadPoolExecutor {
  private final BlockingQueue<Runnable> tasks;
  private int core = 2;
  private int threads;

  private Pool(BlockingQueue<Runnable> tasks) {
    super(1, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, tasks);
    this.tasks = tasks;
  }

  /** In place of {@code DaemonThreads.few}. */
  public static ThreadPoolExecutor few(ThreadFactory unused) {
    return new Pool(new LinkedBlockingQueue<>());
  }

  @Override
  public synchronized void execute(Runnable task) {
    if (threads < core) {
      begin(task);
    } else {
      tasks.add(task);
    }
  }

  private void begin(Runnable first) {
    threads++;
    var unused =
        Schedule.spawn(
            "pool",
            () -> {
              for (Runnable task = first; task != null; task = next()) {
                task.run();
              }
            });
  }

  /** Null when the thread ends. */
  private synchronized Runnable next() {
    Runnable task = tasks.poll();
    threads -= task == null ? 1 : 0;
    return task;
  }

  private void grow() {
    while (threads < core && !tasks.isEmpty()) {
      begin(tasks.poll());
    }
  }

  @Override
  public synchronized int getCorePoolSize() {
    return core;
  }

  @Override
  public synchronized void setCorePoolSize(int size) {
    core = size;
    grow();
  }

  @Override
  public synchronized int getPoolSize() {
    return threads;
  }

  @Override
  public synchronized boolean prestartCoreThread() {
    grow();
    return true;
  }
}
