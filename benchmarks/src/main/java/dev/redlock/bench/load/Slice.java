package dev.redlock.bench.load;

import java.util.Collections;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What was seen of one system under one load for a while.
 *
 * @param nanos from the start to the end of the last pair
 * @param pairTimes how long acquire and release took together, in nanoseconds
 * @param waits how long acquire took, in nanoseconds
 * @param gaps from a release's begin to the next grant, in nanoseconds; contended loads only
 * @param perWorker pairs of each worker
 * @param overlaps how often two held one name at once
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

  /** How many pairs were done. */
  public long pairs() {
    return perWorker.stream().mapToLong(Long::longValue).sum();
  }

  /** Pairs, or sections, in a second. */
  public double rate() {
    return pairs() * 1e9 / Math.max(1, nanos);
  }

  /** What the unluckiest worker got, as a fraction of an equal share. */
  public double leastShare() {
    return share(Collections.min(perWorker));
  }

  /** What the luckiest worker got, as a multiple of an equal share. */
  public double mostShare() {
    return share(Collections.max(perWorker));
  }

  private double share(long pairs) {
    return pairs() == 0 ? 0 : (double) pairs * perWorker.size() / pairs();
  }
}
