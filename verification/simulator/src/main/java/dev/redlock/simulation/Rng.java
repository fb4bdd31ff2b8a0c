package dev.redlock.simulation;

/** SplitMix64: the only source of randomness in a simulated world, the same on every JDK. */
final class Rng {
  private long state;

  Rng(long seed) {
    state = seed * 0x9E3779B97F4A7C15L + 0x632BE59BD9B4E019L;
    nextLong();
  }

  /** Another stream; this one continues as if there were none. */
  Rng branch() {
    return new Rng(~state);
  }

  long nextLong() {
    state += 0x9E3779B97F4A7C15L;
    long z = state;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** In [0, 1). */
  double next() {
    return (nextLong() >>> 11) * 0x1.0p-53;
  }

  boolean chance(double probability) {
    return probability > 0 && next() < probability;
  }

  /** In [0, bound). */
  int below(int bound) {
    return (int) (next() * bound);
  }

  /** In [low, high]. */
  long between(long low, long high) {
    return low + (long) (next() * (high - low + 1));
  }

  /** In [low, high]; each order of magnitude has the same probability. */
  long spread(long low, long high) {
    double ratio = (double) high / low;
    int doublings = 0;
    while (ratio > 1) {
      ratio /= 2;
      doublings++;
    }
    long value = low << below(doublings + 1);
    return Math.min(high, between(value, 2 * value));
  }

  /** One of these. */
  <T> T pick(T[] values) {
    return values[below(values.length)];
  }

  /** One of these. */
  long oneOf(long... values) {
    return values[below(values.length)];
  }
}
