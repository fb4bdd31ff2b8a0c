package dev.redlock.bench.load;

import java.time.Duration;

/**
 * Workers that acquire and release, one pair after another, each without pauses.
 *
 * @param shared whether all workers lock one name; otherwise each worker has its own names
 * @param names how many names each worker uses in turn
 * @param maxAttempts the maximum number of pairs of one worker
 */
public record Load(
    Mode mode, int workers, boolean shared, int names, Duration time, long maxAttempts) {

  /** How a worker waits. */
  public enum Mode {
    THREADS,
    VIRTUAL,
    ASYNC
  }

  /** One caller that uses a few dozen names in turn. */
  public static Load oneByOne(Duration time) {
    return new Load(Mode.THREADS, 1, false, 64, time, Long.MAX_VALUE);
  }

  /** This number of pairs in flight, each on its own name. */
  public static Load spread(Mode mode, int workers, Duration time) {
    return new Load(mode, workers, false, 1, time, Long.MAX_VALUE);
  }

  /** This number of threads that lock one name. */
  public static Load contended(int workers, Duration time) {
    return new Load(Mode.THREADS, workers, true, 1, time, Long.MAX_VALUE);
  }

  /** The same load, with a maximum number of pairs per worker. */
  public Load atMost(long pairs) {
    return new Load(mode, workers, shared, names, time, pairs);
  }

  /** The same load for another duration. */
  public Load lasting(Duration other) {
    return new Load(mode, workers, shared, names, other, maxAttempts);
  }

  /** The name that a worker uses in this turn. */
  public String name(int worker, long turn) {
    return shared ? "shared" : "w" + worker + "-" + turn % names;
  }
}
