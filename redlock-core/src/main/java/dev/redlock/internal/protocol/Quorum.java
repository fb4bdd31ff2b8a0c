package dev.redlock.internal.protocol;

/** Arithmetic of majorities: always of the <em>configured</em> nodes, reachable or not. */
final class Quorum {
  private Quorum() {}

  /** ⌊n/2⌋ + 1: any two quorums share a node. */
  static int of(int nodes) {
    return nodes / 2 + 1;
  }

  /** How many nodes must not grant before a quorum is out of reach; for even n a tie suffices. */
  static int blocking(int nodes) {
    return nodes - of(nodes) + 1;
  }

  /** A bit mask with one bit for each node; there are 63 at most. */
  static long all(int nodes) {
    return (1L << nodes) - 1;
  }
}
