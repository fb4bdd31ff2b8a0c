package dev.redlock.bench.report;

import java.util.Locale;

/** Formats figures with three digits. */
final class Numbers {
  private Numbers() {}

  static String of(double value) {
    double size = Math.abs(value);
    if (size >= 1000) {
      return String.format(Locale.ROOT, "%,.0f", value);
    } else if (size >= 100 || value == 0) {
      return String.format(Locale.ROOT, "%.0f", value);
    } else if (size >= 10) {
      return String.format(Locale.ROOT, "%.1f", value);
    }
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
