package dev.redlock.bench.load;

/**
 * A critical section: a caller asked for a lock, was granted it, and began to release it. Times are
 * nanoseconds of the clock that all processes of a machine share (Linux and macOS).
 */
public record Section(int caller, long askedNanos, long grantedNanos, long releasingNanos) {

  /** Parses the output of {@link #toString}. */
  public static Section parse(String line) {
    String[] parts = line.split(" ", -1);
    return new Section(
        Integer.parseInt(parts[0]),
        Long.parseLong(parts[1]),
        Long.parseLong(parts[2]),
        Long.parseLong(parts[3]));
  }

  @Override
  public String toString() {
    return caller + " " + askedNanos + " " + grantedNanos + " " + releasingNanos;
  }
}
