package dev.redlock.internal;

import dev.redlock.RedlockListener;
import dev.redlock.spi.Time;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * The events that one listener has not received yet. The listener receives them one after another
 * on the callback executor, so a listener that blocks delays neither locks nor other listeners. The
 * queue is bounded: a listener that never returns must not fill the memory.
 *
 * <p>To wake a thread costs more than all else that an event needs. So the first event after a
 * pause is delivered at once, and those that follow it are collected for {@link #PAUSE_NANOS}.
 */
final class ListenerQueue implements Runnable {
  /** About 15 MB of events. */
  static final int LIMIT = 100_000;

  /** The time between two deliveries. */
  static final long PAUSE_NANOS = 10_000_000;

  private final RedlockListener listener;
  private final Executor callbacks;
  private final Time time;
  private final FailureLog failures;
  private final int limit;
  private final ConcurrentLinkedQueue<Consumer<RedlockListener>> events =
      new ConcurrentLinkedQueue<>();

  /** Events that are not delivered yet; the thread that raises it from zero starts a task. */
  private final AtomicInteger undelivered = new AtomicInteger();

  /** Events that found the queue full, and that the listener has not been told of. */
  private final AtomicLong dropped = new AtomicLong();

  /** Whether a timer will start the delivery. The thread that clears it starts it. */
  private final AtomicBoolean scheduled = new AtomicBoolean();

  /** The earliest time of the next delivery. Written by a delivery, read by the next. */
  private volatile long nextNanos;

  /** The client is closed, and timers may not run any more. */
  private volatile boolean closed;

  ListenerQueue(
      RedlockListener listener, Executor callbacks, Time time, FailureLog failures, int limit) {
    this.listener = listener;
    this.callbacks = callbacks;
    this.time = time;
    nextNanos = time.nanos();
    this.failures = failures;
    this.limit = limit;
  }

  boolean isProbe() {
    return listener instanceof WaitProbe;
  }

  /** Delivers the event later, or drops it if the queue is full. Never throws, never blocks. */
  void add(Consumer<RedlockListener> event) {
    if (undelivered.get() >= limit) {
      if (dropped.getAndIncrement() == 0) {
        failures.report(
            "the listener " + listener.getClass().getName(),
            new IllegalStateException(
                "it is too slow: " + limit + " events wait for it, and later ones are dropped"));
      }
      return;
    }
    events.add(event);
    if (undelivered.getAndIncrement() == 0) {
      start();
    }
  }

  private void start() {
    long pause = nextNanos - time.nanos();
    if (pause <= 0 || closed) {
      callbacks.execute(this);
      return;
    }
    scheduled.set(true);
    time.schedule(this::startNow, pause);
    if (closed) { // The timer may have been refused.
      startNow();
    }
  }

  private void startNow() {
    if (scheduled.compareAndSet(true, false)) {
      callbacks.execute(this);
    }
  }

  /** Delivers at once what is there, and what comes from now on. */
  void close() {
    closed = true;
    startNow();
  }

  /** Delivers events until there are none. One task at a time. */
  @Override
  public void run() {
    nextNanos = time.nanos() + PAUSE_NANOS;
    do {
      Consumer<RedlockListener> event = events.poll();
      if (event != null) { // Added before it was counted, so it is there.
        deliver(event);
      }
      long lost = dropped.get() == 0 ? 0 : dropped.getAndSet(0);
      if (lost > 0) {
        deliver(l -> l.onDropped(lost));
      }
    } while (undelivered.decrementAndGet() != 0);
  }

  private void deliver(Consumer<RedlockListener> event) {
    try {
      event.accept(listener);
    } catch (Throwable e) { // Neither an error nor an exception ends the thread or the order.
      failures.report("the listener " + listener.getClass().getName(), e);
    }
  }
}
