package dev.redlock.internal;

import dev.redlock.spi.Time;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Events that are not urgent. The timers' thread brings them to their actors, a few in a row; then
 * it runs other timers that are due. The naive way brings each event at once, on the I/O thread
 * that learned of it, which reads no reply meanwhile. In this history an acquire of a free lock
 * takes seconds: a client with 30,000 leases is paused until they have expired. The reply to its
 * next acquire comes behind three messages for each lease, and each message ends a lease.
 */
final class DeferredEvents {
  /** How many events one thread brings in a row: about a millisecond of work. */
  static final int IN_A_ROW = 32;

  private final Time time;
  private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();

  /** Events that are not brought yet; who raises it from zero starts the timer. */
  private final AtomicInteger length = new AtomicInteger();

  DeferredEvents(Time time) {
    this.time = time;
  }

  void add(Runnable event) {
    queue.add(event);
    if (length.getAndIncrement() == 0) {
      start();
    }
  }

  private void start() {
    try {
      time.schedule(this::bring, 0);
    } catch (Throwable e) { // The JVM starts no thread for the timers.
      bring();
    }
  }

  private void bring() {
    int brought = 0;
    try {
      for (Runnable next; brought < IN_A_ROW && (next = queue.poll()) != null; ) {
        brought++;
        next.run();
      }
    } finally {
      if (length.addAndGet(-brought) > 0) {
        start();
      }
    }
  }
}
