package dev.redlock.harness.timeline;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Maps a time to its position on the page, and formats it. */
record Scale(long fromNanos, long toNanos, double left, double width) {

  double x(long atNanos) {
    double share = (double) (atNanos - fromNanos) / (toNanos - fromNanos);
    return left + width * Math.min(1, Math.max(0, share));
  }

  double right() {
    return left + width;
  }

  /** Round times at a readable distance. */
  List<Long> ticks() {
    long step = step((toNanos - fromNanos) / 16);
    List<Long> ticks = new ArrayList<>();
    for (long at = -Math.floorDiv(-fromNanos, step) * step; at <= toNanos; at += step) {
      ticks.add(at);
    }
    return ticks;
  }

  /** The smallest of 1, 2, 5, 10, 20, … that is at least this large. */
  private static long step(long atLeast) {
    long power = 1;
    while (power * 10 < atLeast) {
      power *= 10;
    }
    for (long factor : new long[] {1, 2, 5}) {
      if (power * factor >= atLeast) {
        return power * factor;
      }
    }
    return power * 10;
  }

  /**
   * Formats a time. All times of one scale have the same unit, and as many digits as the ticks
   * need.
   */
  String label(long atNanos) {
    long step = step((toNanos - fromNanos) / 16);
    if (toNanos >= 1_000_000_000L && step >= 1_000_000L) {
      return text(atNanos, 1_000_000_000L, step, "s");
    }
    if (toNanos >= 1_000_000L && step >= 1_000L) {
      return text(atNanos, 1_000_000L, step, "ms");
    }
    return text(atNanos, 1_000L, step, "µs");
  }

  private static String text(long atNanos, long unit, long step, String name) {
    int digits = 0;
    for (long rest = step; rest < unit; rest *= 10) {
      digits++;
    }
    return String.format(Locale.ROOT, "%." + digits + "f %s", (double) atNanos / unit, name);
  }

  /** Formats a duration with about three digits. */
  static String length(long nanos) {
    if (nanos >= 1_000_000_000L) {
      return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }
    if (nanos >= 1_000_000L) {
      return String.format(Locale.ROOT, "%.1f ms", nanos / 1e6);
    }
    return String.format(Locale.ROOT, "%.0f µs", nanos / 1e3);
  }

  /** Formats a time of the run, to the millisecond. */
  static String time(long nanos) {
    return String.format(Locale.ROOT, "%.3f s", nanos / 1e9);
  }
}
