package dev.redlock;

/**
 * A number that increases from lease to lease of one name. It protects a resource that stores the
 * highest token it has seen and refuses lower ones in one conditional statement, reads included.
 *
 * <p>The value is microseconds of Redis node time (to within 64), positive and below 2^53: exact in
 * JSON, Lua and JavaScript. It is no secret. Compare tokens of one name only.
 *
 * @param value the number to show to the resource
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
