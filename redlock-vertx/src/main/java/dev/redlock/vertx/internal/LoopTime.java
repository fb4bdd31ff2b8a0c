package dev.redlock.vertx.internal;

import dev.redlock.spi.Time;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Future;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * One thread for the timers and completions of a client, in place of the core's own, which take a
 * lock to schedule and to queue: an event loop that asks for a timer must not be parked for it.
 * Everything it runs here is short, since results are handed to the callers' contexts. It is not
 * one of Vert.x's event loops: a verticle that blocks its own must not keep leases from being
 * extended.
 */
final class LoopTime implements Time, Executor, AutoCloseable {
  private final EventLoopGroup group;
  private final EventLoop loop;

  LoopTime() {
    group =
        new MultiThreadIoEventLoopGroup(
            1,
            task -> {
              Thread thread = new Thread(task, "redlock-vertx");
              thread.setDaemon(true);
              return thread;
            },
            NioIoHandler.newFactory());
    loop = group.next();
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
      Future<?> scheduled = loop.schedule(task, Math.max(0, delayNanos), TimeUnit.NANOSECONDS);
      return () -> scheduled.cancel(false);
    } catch (RejectedExecutionException e) {
      return () -> {}; // Closed: nothing is waited for any more.
    }
  }

  @Override
  public void execute(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      task.run(); // Closed; the few that still wait for an answer must get it.
    }
  }

  @Override
  public void close() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
