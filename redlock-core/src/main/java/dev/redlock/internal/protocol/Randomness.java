package dev.redlock.internal.protocol;

/** All randomness of the protocol: passed in, so that a seed repeats a history. */
public interface Randomness {
  /** Evenly spread in [0, 1). */
  double next();

  /**
   * This time, or up to a fifth less. What began together, as leases that were granted together or
   * waited for the end of one pause, does not stay together then.
   */
  default long atMost(long nanos) {
    long fifth = nanos / 5;
    return nanos - (long) (fifth * next());
  }

  /** A new lease id: 160 random bits, never the same twice. */
  String leaseId();

  /** An identity for a deployment: 14 hexadecimal digits of 53 random bits. */
  default String deploymentId() {
    long bits = 1L << 53;
    return Long.toHexString(bits | (long) (next() * bits));
  }

  /**
   * A node was probed on a new connection, or again. Called before the connection is used. Lease
   * ids that were drawn ahead are not used any more.
   *
   * @param nodeMicros the node's clock at that moment, in microseconds
   */
  default void probed(int node, long nodeMicros) {}
}
