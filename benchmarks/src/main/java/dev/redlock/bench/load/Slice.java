package dev.redlock.bench.load;

import java.util.Collections;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The measurements of one system under one load.
 *
 * @param nanos from the start to the end of the last pair
 * @param pairTimes the duration of acquire and release together, in nanoseconds
 * @param waits the duration of acquire, in nanoseconds
 * @param gaps the time from the start of a release to the next grant, in nanoseconds; contended
 *     loads only
 * @param perWorker the number of pairs of each worker
 * @param overlaps how often two callers held one name at the same time
 */
public record Slice(
    long nanos,
    Histogram pairTimes,
    Histogram waits,
    Histogram gaps,
    List<Long> perWorker,
    long overlaps,
    long failures,
    @Nullable String firstFailure) {

  /** The number of pairs. */
  public long pairs() {
    return perWorker.stream().mapToLong(Long::longValue).sum();
  }

  /** Pairs, or sections, per second. */
  public double rate() {
    return pairs() * 1e9 / Math.max(1, nanos);
  }

  /** The share of the worker with the fewest pairs, relative to an equal share. */
  public double leastShare() {
    return share(Collections.min(perWorker));
  }

  /** The share of the worker with the most pairs, relative to an equal share. */
  public double mostShare() {
    return share(Collections.max(perWorker));
  }

  private double share(long pairs) {
    return pairs() == 0 ? 0 : (double) pairs * perWorker.size() / pairs();
  }
}
