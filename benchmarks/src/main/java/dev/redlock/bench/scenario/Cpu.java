package dev.redlock.bench.scenario;

import com.sun.management.OperatingSystemMXBean;
import dev.redlock.bench.system.Waiting;
import dev.redlock.testkit.RedisNode;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/** The CPU time of this JVM or of a server, which does not depend on other processes. */
final class Cpu {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private static final Duration LOOK = Duration.ofMillis(100);
  private static final Duration MOST = Duration.ofSeconds(3);

  private Cpu() {}

  /** The CPU time of all threads in nanoseconds, in steps of 10 ms. */
  static long nanos() {
    return SYSTEM.getProcessCpuTime();
  }

  /** The CPU time of this server in microseconds. */
  static double microsOf(RedisNode server) {
    return String.valueOf(server.command("INFO", "cpu"))
        .lines()
        .filter(line -> line.startsWith("used_cpu_sys:") || line.startsWith("used_cpu_user:"))
        .mapToDouble(line -> 1e6 * Double.parseDouble(line.substring(line.indexOf(':') + 1)))
        .sum();
  }

  /**
   * Waits until the JIT compiler is idle after a warm-up, for at most 3 s. While no system requests
   * a lock, this JVM has no other work. Otherwise the first measurement would share the processors
   * with the compiler.
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
