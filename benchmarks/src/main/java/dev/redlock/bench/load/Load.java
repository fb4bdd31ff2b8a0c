package dev.redlock.bench.load;

import java.time.Duration;

/**
 * Workers that acquire and release, one pair after another, each as fast as it gets answers.
 *
 * @param shared whether all of them want one name; otherwise each has names of its own
 * @param names how many names each uses in turn; names are used again and again
 * @param maxAttempts no worker begins more pairs than that
 */
public record Load(
    Mode mode, int workers, boolean shared, int names, Duration time, long maxAttempts) {

  /** How a worker waits. */
  public enum Mode {
    THREADS,
    VIRTUAL,
    ASYNC
  }

  /** One caller, over a few dozen names. */
  public static Load oneByOne(Duration time) {
    return new Load(Mode.THREADS, 1, false, 64, time, Long.MAX_VALUE);
  }

  /** So many pairs in flight, each on a name of its own. */
  public static Load spread(Mode mode, int workers, Duration time) {
    return new Load(mode, workers, false, 1, time, Long.MAX_VALUE);
  }

  /** So many threads that all want one name. */
  public static Load contended(int workers, Duration time) {
    return new Load(Mode.THREADS, workers, true, 1, time, Long.MAX_VALUE);
  }

  /** The same, but no worker begins more pairs than that. */
  public Load atMost(long pairs) {
    return new Load(mode, workers, shared, names, time, pairs);
  }

  /** The same for another time. */
  public Load lasting(Duration other) {
    return new Load(mode, workers, shared, names, other, maxAttempts);
  }

  /** The name that a worker uses the given time. */
  public String name(int worker, long turn) {
    return shared ? "shared" : "w" + worker + "-" + turn % names;
  }
}
