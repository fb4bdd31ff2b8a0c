package dev.redlock.internal.protocol;

/** Opens to the simulator what the package hides. */
public final class Repairs {
  private Repairs() {}

  /** Whether it only writes a lease to nodes that do not store it, and decides nothing. */
  public static boolean isRepair(Exchange exchange) {
    return exchange instanceof ExtendRound round && round.repairs();
  }
}
