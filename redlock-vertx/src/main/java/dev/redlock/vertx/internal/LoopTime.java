package dev.redlock.vertx.internal;

import dev.redlock.spi.Time;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Future;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * One thread for the timers of a client and one for its completions. They replace the executors of
 * the core, which take a lock to schedule and to queue: an event loop that sets a timer must not be
 * parked on a lock. Completions are short, because results continue on the callers' contexts. But a
 * user of {@link VertxRedlock#redlock} may block in a completion, and that must not delay the
 * extension of leases; so completions have a thread of their own. For the same reason these threads
 * are not event loops of Vert.x.
 */
final class LoopTime implements Time, Executor, AutoCloseable {
  private final EventLoopGroup group;
  private final EventLoop timers;
  private final EventLoop completions;

  LoopTime() {
    group =
        new MultiThreadIoEventLoopGroup(
            2,
            (ThreadFactory) task -> ColdThread.daemon(task, "redlock-vertx"),
            NioIoHandler.newFactory());
    timers = group.next();
    completions = group.next();
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public Cancellable schedule(Runnable task, long delayNanos) {
    try {
      Future<?> scheduled = timers.schedule(task, Math.max(0, delayNanos), TimeUnit.NANOSECONDS);
      return () -> scheduled.cancel(false);
    } catch (RejectedExecutionException e) {
      return () -> {}; // Closed: no timer is needed any more.
    }
  }

  /**
   * @throws RejectedExecutionException if this is closed; the core then runs the task on another
   *     thread
   */
  @Override
  public void execute(Runnable task) {
    completions.execute(task);
  }

  @Override
  public void close() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
