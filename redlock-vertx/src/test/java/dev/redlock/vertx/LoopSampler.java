package dev.redlock.vertx;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Samples event loops every 10 ms. Records loops that sleep, wait or are parked below a frame of
 * this library, and loops that have waited for a monitor from one sample to the next. State and
 * stack of one sample belong to one moment. An idle loop is in native code, which is not such a
 * state.
 */
final class LoopSampler implements AutoCloseable {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int DEPTH = 200;

  private final Set<String> stalled = ConcurrentHashMap.newKeySet();
  private final AtomicInteger samples = new AtomicInteger();
  private final Thread thread = new Thread(this::run, "sampler");
  private volatile boolean over;

  /** The blocked count of each loop at its last sample as blocked. Confined to the thread. */
  private final Map<Long, Long> blocks = new HashMap<>();

  LoopSampler() {
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    while (!over) {
      long[] loops =
          Thread.getAllStackTraces().keySet().stream()
              .filter(t -> t.getName().startsWith("vert.x-eventloop"))
              .mapToLong(Thread::getId)
              .toArray();
      Arrays.stream(THREADS.getThreadInfo(loops, DEPTH))
          .filter(loop -> loop != null)
          .forEach(this::sample);
      BusIT.parkMillis(10);
    }
  }

  private void sample(ThreadInfo loop) {
    samples.incrementAndGet();
    boolean stands =
        switch (loop.getThreadState()) {
          case WAITING, TIMED_WAITING -> true;
          case BLOCKED -> {
            Long before = blocks.put(loop.getThreadId(), loop.getBlockedCount());
            yield before != null && before == loop.getBlockedCount();
          }
          default -> false;
        };
    if (stands
        && Arrays.stream(loop.getStackTrace())
            .anyMatch(frame -> frame.getClassName().startsWith("dev.redlock"))) {
      stalled.add(loop.getThreadState() + " " + Arrays.toString(loop.getStackTrace()));
    }
  }

  /** The number of samples. */
  int samples() {
    return samples.get();
  }

  /** Stacks of event loops that were blocked in this library. */
  Set<String> stalled() {
    return stalled;
  }

  @Override
  public void close() {
    over = true;
  }
}
