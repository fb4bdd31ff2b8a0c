package dev.redlock.bench.scenario;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** What this JVM has used of the processors; other processes of the machine do not disturb it. */
final class Cpu {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private Cpu() {}

  /** Nanoseconds, of all its threads, counted in steps of ten milliseconds. */
  static long nanos() {
    return SYSTEM.getProcessCpuTime();
  }
}
