package dev.redlock.internal.protocol;

/** Opens to the simulator what the package hides. */
public final class EarlyExtensions {
  private EarlyExtensions() {}

  /** Whether it only writes a lease to nodes that lack it, and decides nothing. */
  public static boolean isOne(Exchange exchange) {
    return exchange instanceof ExtendRound round && round.early;
  }
}
