package dev.redlock.internal.protocol;

/** All randomness of the protocol: passed in, so that a seed repeats a history. */
public interface Randomness {
  /** Evenly spread in [0, 1). */
  double next();

  /** A new lease id: 160 random bits, never the same twice. */
  String leaseId();
}
