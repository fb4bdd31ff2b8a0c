package dev.redlock.bench.load;

import java.lang.reflect.Method;

/** Virtual threads where there are any; this is compiled for 17, which has none. */
public final class VirtualThreads {
  private VirtualThreads() {}

  /** Whether this JVM has them. */
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
