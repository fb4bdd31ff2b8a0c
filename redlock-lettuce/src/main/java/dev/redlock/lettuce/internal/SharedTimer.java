package dev.redlock.lettuce.internal;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timer;
import org.jspecify.annotations.Nullable;

/**
 * The timer of all clients in the JVM that have own threads. Netty logs an error if there are more
 * than 64 timers of its kind. The first user starts it, and the last one ends it.
 */
final class SharedTimer {
  private static @Nullable HashedWheelTimer timer;
  private static int users;

  private SharedTimer() {}

  static synchronized Timer acquire() {
    HashedWheelTimer known = timer;
    if (known == null) {
      known = new HashedWheelTimer(new CleanThreads().getThreadFactory("lettuce-timer"));
      timer = known;
    }
    users++;
    return known;
  }

  /**
   * The last user waits until the thread of the timer has ended. Must not be called on that thread.
   */
  static void release() {
    HashedWheelTimer last = null;
    synchronized (SharedTimer.class) {
      if (--users == 0) {
        last = timer;
        timer = null;
      }
    }
    if (last != null) {
      var unused = last.stop();
    }
  }
}
