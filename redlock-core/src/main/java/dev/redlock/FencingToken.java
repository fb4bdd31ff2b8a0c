package dev.redlock;

/**
 * A number that rises from lease to lease of one name. It protects a resource that stores the
 * highest token it has accepted and rejects lower tokens in one conditional statement, for writes
 * and for reads.
 *
 * <p>The value is the time of the Redis nodes in microseconds (to within 64), positive and below
 * 2^53, so it is exact in JSON, Lua and JavaScript. It is not secret. Do not compare tokens of
 * different names.
 *
 * @param value the number to send to the resource
 */
public record FencingToken(long value) implements Comparable<FencingToken> {
  /** The first value that is out of range: 2^53. */
  public static final long LIMIT = 1L << 53;

  public FencingToken {
    if (value <= 0 || value >= LIMIT) {
      throw new IllegalArgumentException(
          "a fencing token lies between 1 and " + (LIMIT - 1) + ", was " + value);
    }
  }

  @Override
  public int compareTo(FencingToken other) {
    return Long.compare(value, other.value);
  }

  @Override
  public String toString() {
    return Long.toString(value);
  }
}
