package dev.redlock.lettuce.internal;

import dev.redlock.spi.Time;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.netty.util.concurrent.AbstractScheduledEventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Ticker;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Netty's event loop, Lettuce's timer and the client's clock in one object, on the thread of the
 * test and in virtual time. What a test does outside of {@link #runUntil} counts as done by another
 * thread than the loop's.
 */
final class VirtualLoop extends AbstractScheduledEventExecutor implements EventLoop, Timer, Time {
  private static final long FIRST_NANOS = 1_000_000_000_000L;

  private record Task(Runnable action, long atNanos, long number) {}

  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final PriorityQueue<Task> agenda =
      new PriorityQueue<>(
          Comparator.<Task>comparingLong(t -> t.atNanos).thenComparingLong(t -> t.number));
  private final VirtualTicker ticker = new VirtualTicker();
  private long numbers;
  private boolean inside;

  private static final class VirtualTicker implements Ticker {
    long nanos = FIRST_NANOS;

    @Override
    public long initialNanoTime() {
      return FIRST_NANOS;
    }

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public void sleep(long time, TimeUnit unit) {
      throw new UnsupportedOperationException("nothing sleeps in virtual time");
    }
  }

  /** Runs all that is due until this time, each task at its time. */
  void runUntil(long nanos) {
    do {
      runTasks();
    } while (step(nanos));
    ticker.nanos = nanos;
  }

  /** Runs what the loop has to do now, without any time passing. */
  void runTasks() {
    inside = true;
    try {
      for (Runnable task = due(); task != null; task = due()) {
        task.run();
      }
    } finally {
      inside = false;
    }
  }

  private Runnable due() {
    Runnable scheduled = pollScheduledTask(ticker.nanos);
    return scheduled != null ? scheduled : tasks.poll();
  }

  private boolean step(long nanos) {
    Task task = agenda.peek();
    long netty = nextScheduledTaskDeadlineNanos();
    long first =
        Math.min(task == null ? Long.MAX_VALUE : task.atNanos, netty < 0 ? Long.MAX_VALUE : netty);
    if (first > nanos) {
      return false;
    }
    ticker.nanos = Math.max(ticker.nanos, first);
    if (task != null && task.atNanos <= ticker.nanos) {
      agenda.remove(task);
      task.action.run(); // On the timer's thread, not the loop's.
    }
    return true;
  }

  /** Something that happens in the world, at this time. */
  void at(long delayNanos, Runnable action) {
    agenda.add(new Task(action, ticker.nanos + Math.max(0, delayNanos), ++numbers));
  }

  /** The number of events that have not happened yet. */
  int pending() {
    return agenda.size() + tasks.size();
  }

  // The clock and the timer of the client.

  @Override
  public long nanos() {
    return ticker.nanos;
  }

  @Override
  public long wallMillis() {
    return 1_700_000_000_000L + ticker.nanos / 1_000_000;
  }

  @Override
  public Cancellable schedule(Runnable action, long delayNanos) {
    Task task = new Task(action, ticker.nanos + Math.max(0, delayNanos), ++numbers);
    agenda.add(task);
    return () -> agenda.remove(task);
  }

  // The timer of Lettuce.

  @Override
  public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    VirtualTimeout timeout = new VirtualTimeout(task);
    timeout.cancel = schedule(timeout::expire, unit.toNanos(delay));
    return timeout;
  }

  @Override
  public Set<Timeout> stop() {
    return Set.of();
  }

  private final class VirtualTimeout implements Timeout {
    private final TimerTask task;
    private Cancellable cancel = () -> {};
    private boolean expired;
    private boolean cancelled;

    VirtualTimeout(TimerTask task) {
      this.task = task;
    }

    void expire() {
      expired = true;
      try {
        task.run(this);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public Timer timer() {
      return VirtualLoop.this;
    }

    @Override
    public TimerTask task() {
      return task;
    }

    @Override
    public boolean isExpired() {
      return expired;
    }

    @Override
    public boolean isCancelled() {
      return cancelled;
    }

    @Override
    public boolean cancel() {
      cancelled = true;
      cancel.cancel();
      return !expired;
    }
  }

  // The event loop.

  @Override
  public Ticker ticker() {
    return ticker;
  }

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
  }

  @Override
  public boolean inEventLoop() {
    return inside;
  }

  @Override
  public boolean inEventLoop(Thread thread) {
    return inside;
  }

  @Override
  public EventLoopGroup parent() {
    return null;
  }

  @Override
  public EventLoop next() {
    return this;
  }

  @Override
  public ChannelFuture register(Channel channel) {
    return register(new DefaultChannelPromise(channel, this));
  }

  @Override
  public ChannelFuture register(ChannelPromise promise) {
    promise.channel().unsafe().register(this, promise);
    return promise;
  }

  @Deprecated
  @Override
  public ChannelFuture register(Channel channel, ChannelPromise promise) {
    channel.unsafe().register(this, promise);
    return promise;
  }

  @Override
  public boolean isShuttingDown() {
    return false;
  }

  @Override
  public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
    return newSucceededFuture(null);
  }

  @Override
  public Future<?> terminationFuture() {
    return newSucceededFuture(null);
  }

  @Deprecated
  @Override
  public void shutdown() {}

  @Override
  public boolean isShutdown() {
    return false;
  }

  @Override
  public boolean isTerminated() {
    return false;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return true;
  }
}
