package dev.redlock.vertx;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How much of the last half second event loops wanted to run and were not run: neither waiting nor
 * given a processor. That is the machine's doing, not theirs.
 */
final class RunShare {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int LOOKS = 50;
  private static final long NEW_LOOPS_NANOS = 500_000_000;

  /** What was seen of one loop, in a ring. Guarded by itself. */
  private static final class Seen {
    final long[] at = new long[LOOKS];
    final long[] cpu = new long[LOOKS];
    final boolean[] stood = new boolean[LOOKS];
    int looks;
  }

  private final Map<Long, Seen> loops = new ConcurrentHashMap<>();
  private long nextNewLoops = System.nanoTime();

  /** To be called each 10 ms, by one thread. */
  void look() {
    long now = System.nanoTime();
    if (now - nextNewLoops >= 0) {
      nextNewLoops = now + NEW_LOOPS_NANOS;
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().startsWith("vert.x-eventloop")) {
          loops.computeIfAbsent(thread.getId(), id -> new Seen());
        }
      }
    }
    loops.forEach(
        (id, seen) -> {
          ThreadInfo info = THREADS.getThreadInfo(id);
          long cpu = THREADS.getThreadCpuTime(id);
          if (info == null || cpu < 0) {
            loops.remove(id); // It has ended.
            return;
          }
          synchronized (seen) {
            int i = seen.looks++ % LOOKS;
            seen.at[i] = System.nanoTime();
            seen.cpu[i] = cpu;
            seen.stood[i] = info.getThreadState() != Thread.State.RUNNABLE;
          }
        });
  }

  /** Between 0 and 1; 0 if the thread is not known for half a second yet. */
  double denied(Thread loop) {
    Seen seen = loops.get(loop.getId());
    if (seen == null) {
      return 0;
    }
    synchronized (seen) {
      if (seen.looks < LOOKS) {
        return 0;
      }
      int oldest = seen.looks % LOOKS;
      int newest = (seen.looks - 1) % LOOKS;
      double wall = seen.at[newest] - seen.at[oldest];
      double ran = (seen.cpu[newest] - seen.cpu[oldest]) / wall;
      int stood = 0;
      for (boolean one : seen.stood) {
        stood += one ? 1 : 0;
      }
      return Math.max(0, 1 - ran - (double) stood / LOOKS);
    }
  }
}
