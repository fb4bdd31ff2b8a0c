package dev.redlock.bench.scenario;

import com.sun.management.OperatingSystemMXBean;
import dev.redlock.bench.system.Waiting;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/** What this JVM has used of the processors; other processes of the machine do not disturb it. */
final class Cpu {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private static final Duration LOOK = Duration.ofMillis(100);
  private static final Duration MOST = Duration.ofSeconds(3);

  private Cpu() {}

  /** Nanoseconds, of all its threads, counted in steps of ten milliseconds. */
  static long nanos() {
    return SYSTEM.getProcessCpuTime();
  }

  /**
   * Lets the compiler work off what a warm-up has left it, for at most three seconds: while nobody
   * asks for a lock, this JVM has nothing else to do. Without this, what is measured first shares
   * the processors with the compiler.
   */
  static void awaitIdle() {
    long start = System.nanoTime();
    long used;
    do {
      long before = nanos();
      Waiting.pause(LOOK);
      used = nanos() - before;
    } while (used > LOOK.toNanos() / 5 && System.nanoTime() - start < MOST.toNanos());
  }
}
