package dev.redlock.vertx;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How long this machine runs nobody: a thread that does nothing but sleep tells by how much it was
 * late. What is measured while it was late measures the machine.
 */
final class Starvation implements AutoCloseable {
  private static final long NAP_MILLIS = 2;

  /** That a nap takes a little longer is usual. */
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

  /** For how long nobody was run since then, in nanoseconds. */
  long since(long startNanos) {
    BusIT.parkMillis(NAP_MILLIS); // What has not ended yet is counted too.
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
