package dev.redlock.vertx;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How long event loops worked or waited themselves. If a loop was runnable and the machine did not
 * run it, this time belongs to the machine, not to the loop.
 */
final class RunShare {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int SAMPLES = 200;
  private static final long NEW_LOOPS_NANOS = 100_000_000;

  /** The samples of one loop, in a ring. Guarded by its own monitor. */
  private static final class Seen {
    final long[] at = new long[SAMPLES];
    final long[] cpu = new long[SAMPLES];
    final boolean[] stood = new boolean[SAMPLES];
    int samples;

    /** Adds a sample; the CPU time is that of the thread up to now. */
    void add(ThreadInfo info, long cpuNanos) {
      int i = samples++ % SAMPLES;
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
   * For how much of the last {@code nanos} the loop worked or waited, as far as known, in
   * nanoseconds. What happened before the first sample is not known.
   */
  long own(Thread loop, long nanos) {
    sample(loop.getId());
    Seen seen = loops.get(loop.getId());
    if (seen == null) {
      return 0;
    }
    synchronized (seen) {
      int newest = seen.samples - 1;
      long begin = seen.at[newest % SAMPLES] - nanos;
      long stood = 0;
      int i = newest;
      for (; i > 0 && i > newest - SAMPLES + 1 && seen.at[i % SAMPLES] - begin > 0; i--) {
        if (seen.stood[i % SAMPLES]) {
          stood += seen.at[i % SAMPLES] - Math.max(begin, seen.at[(i - 1) % SAMPLES]);
        }
      }
      long ran = seen.cpu[newest % SAMPLES] - seen.cpu[i % SAMPLES];
      return Math.min(nanos, ran + stood);
    }
  }
}
