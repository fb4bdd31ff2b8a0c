package dev.redlock.vertx;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How long event loops worked or stood still themselves. The time in which a loop was runnable and
 * the machine did not run it is caused by the machine, not by the loop.
 */
final class RunShare {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int LOOKS = 200;
  private static final long NEW_LOOPS_NANOS = 100_000_000;

  /** The samples of one loop, in a ring. Guarded by its own monitor. */
  private static final class Seen {
    final long[] at = new long[LOOKS];
    final long[] cpu = new long[LOOKS];
    final boolean[] stood = new boolean[LOOKS];
    int looks;

    /** Adds a sample; the CPU time is that of the thread up to now. */
    void add(ThreadInfo info, long cpuNanos) {
      int i = looks++ % LOOKS;
      at[i] = System.nanoTime();
      cpu[i] = cpuNanos;
      stood[i] = info.getThreadState() != Thread.State.RUNNABLE;
    }
  }

  private final Map<Long, Seen> loops = new ConcurrentHashMap<>();
  private long nextNewLoops = System.nanoTime();

  /** Called every few milliseconds, by one thread. */
  void sample() {
    long now = System.nanoTime();
    if (now - nextNewLoops >= 0) {
      nextNewLoops = now + NEW_LOOPS_NANOS;
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().startsWith("vert.x-eventloop")) {
          loops.computeIfAbsent(thread.getId(), id -> new Seen());
        }
      }
    }
    loops.keySet().forEach(this::sample);
  }

  private void sample(long id) {
    ThreadInfo info = THREADS.getThreadInfo(id);
    long cpu = THREADS.getThreadCpuTime(id);
    Seen seen = loops.get(id);
    if (info == null || cpu < 0) {
      loops.remove(id); // It has ended.
    } else if (seen != null) {
      synchronized (seen) {
        seen.add(info, cpu);
      }
    }
  }

  /**
   * How much of the last {@code nanos} the loop is known to have worked or stood still, in
   * nanoseconds. What happened before the first sample is not known.
   */
  long own(Thread loop, long nanos) {
    sample(loop.getId());
    Seen seen = loops.get(loop.getId());
    if (seen == null) {
      return 0;
    }
    synchronized (seen) {
      int newest = seen.looks - 1;
      long begin = seen.at[newest % LOOKS] - nanos;
      long stood = 0;
      int i = newest;
      for (; i > 0 && i > newest - LOOKS + 1 && seen.at[i % LOOKS] - begin > 0; i--) {
        if (seen.stood[i % LOOKS]) {
          stood += seen.at[i % LOOKS] - Math.max(begin, seen.at[(i - 1) % LOOKS]);
        }
      }
      long ran = seen.cpu[newest % LOOKS] - seen.cpu[i % LOOKS];
      return Math.min(nanos, ran + stood);
    }
  }
}
