package dev.redlock.bench.load;

import java.lang.reflect.Method;

/**
 * Virtual threads, if the JVM has them. This class is compiled for Java 17, which does not have
 * them.
 */
public final class VirtualThreads {
  private VirtualThreads() {}

  /** Whether this JVM has virtual threads. */
  public static boolean areThere() {
    return Runtime.version().feature() >= 21;
  }

  static Thread start(Runnable task) {
    try {
      Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
      return (Thread) start.invoke(null, task);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("no virtual threads here", e);
    }
  }
}
