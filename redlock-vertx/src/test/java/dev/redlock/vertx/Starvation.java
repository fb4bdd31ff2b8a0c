package dev.redlock.vertx;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Measures for how long the machine does not run a thread that only sleeps. Measurements during
 * such a delay measure the machine.
 */
final class Starvation implements AutoCloseable {
  private static final long NAP_MILLIS = 2;

  /** A small delay of a sleep is normal. */
  private static final long USUAL_NANOS = 3_000_000;

  private record Pause(long endNanos, long nanos) {}

  private final Deque<Pause> pauses = new ArrayDeque<>();
  private volatile boolean closed;

  Starvation() {
    Thread sleeper = new Thread(this::nap, "starvation");
    sleeper.setDaemon(true);
    sleeper.start();
  }

  private void nap() {
    while (!closed) {
      long start = System.nanoTime();
      BusIT.parkMillis(NAP_MILLIS);
      long end = System.nanoTime();
      long late = end - start - NAP_MILLIS * 1_000_000;
      if (late > USUAL_NANOS) {
        synchronized (pauses) {
          pauses.add(new Pause(end, late));
        }
      }
    }
  }

  /** The total delay since then, in nanoseconds. */
  long since(long startNanos) {
    BusIT.parkMillis(NAP_MILLIS); // A delay that has not ended yet counts too.
    synchronized (pauses) {
      return pauses.stream()
          .filter(pause -> pause.endNanos - startNanos > 0)
          .mapToLong(Pause::nanos)
          .sum();
    }
  }

  @Override
  public void close() {
    closed = true;
  }
}
