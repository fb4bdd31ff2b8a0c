package dev.redlock.harness.timeline;

import dev.redlock.harness.timeline.Timeline.Hold;
import java.util.ArrayList;
import java.util.List;

/**
 * Merges holds that are too short to be visible. Each bin has the held share of its time, the
 * number of holds and their tokens.
 */
final class HoldBins {
  private HoldBins() {}

  /**
   * One bin.
   *
   * @param share the held share of its time, 0 to 1
   * @param holds the number of holds that touch it
   */
  record Bin(
      long fromNanos, long toNanos, double share, int holds, long firstToken, long lastToken) {}

  /** The bins of {@code binNanos} each that any of the holds touches, in order of time. */
  static List<Bin> of(List<Hold> holds, long binNanos, long lengthNanos) {
    int count = (int) ((lengthNanos + binNanos - 1) / binNanos);
    long[] heldNanos = new long[count];
    int[] touched = new int[count];
    long[] first = new long[count];
    long[] last = new long[count];
    for (Hold hold : holds) {
      long from = Math.max(0, hold.fromNanos());
      long to = Math.min(lengthNanos, hold.toNanos());
      for (long bin = from / binNanos; bin < count && bin * binNanos <= to; bin++) {
        int i = (int) bin;
        heldNanos[i] += Math.min(to, (bin + 1) * binNanos) - Math.max(from, bin * binNanos);
        first[i] = touched[i] == 0 ? hold.token() : Math.min(first[i], hold.token());
        last[i] = Math.max(last[i], hold.token());
        touched[i]++;
      }
    }
    List<Bin> bins = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      if (touched[i] > 0) {
        double share = Math.min(1, (double) heldNanos[i] / binNanos);
        long from = i * binNanos;
        bins.add(new Bin(from, from + binNanos, share, touched[i], first[i], last[i]));
      }
    }
    return bins;
  }
}
