package dev.redlock.bench.load;

import dev.redlock.bench.load.Load.Mode;
import dev.redlock.bench.system.Held;
import dev.redlock.bench.system.LockClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Runs a load on a client in this JVM. */
public final class Drive {
  private final LockClient client;
  private final Load load;
  private final Histogram pairTimes = histogram();
  private final Histogram waits = histogram();
  private final Histogram gaps = histogram();
  private final AtomicLongArray attempts;
  private final AtomicLongArray perWorker;
  private final AtomicInteger holders = new AtomicInteger();
  private final AtomicLong overlaps = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();
  private final AtomicReference<String> firstFailure = new AtomicReference<>();
  private final CountDownLatch go = new CountDownLatch(1);
  private final CountDownLatch done;
  private volatile long startNanos;
  private volatile long releasedNanos;

  private Drive(LockClient client, Load load) {
    this.client = client;
    this.load = load;
    attempts = new AtomicLongArray(load.workers());
    perWorker = new AtomicLongArray(load.workers());
    done = new CountDownLatch(load.workers());
  }

  /** Runs the load. Returns when the last pair has completed. */
  public static Slice run(LockClient client, Load load) throws InterruptedException {
    return new Drive(client, load).run();
  }

  /** A histogram for nanoseconds up to 10 minutes, with three digits. Safe from any thread. */
  public static Histogram histogram() {
    return new ConcurrentHistogram(600_000_000_000L, 3);
  }

  private Slice run() throws InterruptedException {
    if (load.mode() == Mode.ASYNC) {
      startNanos = System.nanoTime();
      for (int worker = 0; worker < load.workers(); worker++) {
        next(worker);
      }
      done.await();
    } else if (load.workers() == 1) {
      startNanos = System.nanoTime();
      work(0); // On this thread, so that its allocation can be measured.
    } else {
      onThreads();
    }
    long nanos = System.nanoTime() - startNanos;
    List<Long> counts = new ArrayList<>();
    for (int i = 0; i < load.workers(); i++) {
      counts.add(perWorker.get(i));
    }
    return new Slice(
        nanos, pairTimes, waits, gaps, counts, overlaps.get(), failures.get(), firstFailure.get());
  }

  private void onThreads() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < load.workers(); i++) {
      int worker = i;
      Runnable task =
          () -> {
            awaitGo();
            work(worker);
          };
      threads.add(
          load.mode() == Mode.VIRTUAL
              ? VirtualThreads.start(task)
              : startPlatform(task, "bench-" + i));
    }
    startNanos = System.nanoTime();
    go.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static Thread startPlatform(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private void awaitGo() {
    try {
      go.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isOver(int worker, long now) {
    return now - startNanos >= load.time().toNanos() || attempts.get(worker) >= load.maxAttempts();
  }

  private void work(int worker) {
    long asked = System.nanoTime();
    while (!isOver(worker, asked)) {
      try {
        Held held = client.acquire(load.name(worker, attempts.getAndIncrement(worker)));
        long granted = System.nanoTime();
        enter(granted);
        leave();
        held.release();
        long released = System.nanoTime();
        count(worker, asked, granted, released);
        asked = released;
      } catch (Exception e) {
        failed(e);
        asked = System.nanoTime();
      }
    }
  }

  /** Starts one asynchronous pair; the thread that completes the release starts the next one. */
  private void next(int worker) {
    long asked = System.nanoTime();
    if (isOver(worker, asked)) {
      done.countDown();
      return;
    }
    long[] granted = new long[1];
    client
        .acquireAsync(load.name(worker, attempts.getAndIncrement(worker)))
        .thenCompose(
            held -> {
              granted[0] = System.nanoTime();
              enter(granted[0]);
              leave();
              return held.releaseAsync();
            })
        .whenComplete(
            (released, failure) -> {
              if (failure == null) {
                count(worker, asked, granted[0], System.nanoTime());
              } else {
                failed(failure);
              }
              next(worker);
            });
  }

  private void enter(long granted) {
    if (load.shared()) {
      if (holders.incrementAndGet() != 1) {
        overlaps.incrementAndGet();
      }
      long before = releasedNanos;
      if (before != 0) {
        gaps.recordValue(Math.max(0, granted - before));
      }
    }
  }

  private void leave() {
    if (load.shared()) {
      holders.decrementAndGet();
      releasedNanos = System.nanoTime();
    }
  }

  private void count(int worker, long asked, long granted, long released) {
    pairTimes.recordValue(released - asked);
    waits.recordValue(granted - asked);
    perWorker.incrementAndGet(worker);
  }

  private void failed(Throwable failure) {
    failures.incrementAndGet();
    firstFailure.compareAndSet(null, failure.toString());
  }
}
