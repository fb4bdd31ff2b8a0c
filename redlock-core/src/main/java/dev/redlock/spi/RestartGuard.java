package dev.redlock.spi;

/**
 * How a node that may have lost its keys is kept from voting until it is harmless. See {@code
 * docs/safety.md}, "Nodes that forget".
 */
public enum RestartGuard {
  /** No guard. For tests, and for nodes that fsync every write. */
  OFF,
  /**
   * The default: a node whose uptime is shorter than the longest lease, whose run id changed, or
   * whose flush was seen is quarantined for the longest lease time.
   */
  UPTIME,
  /** Stricter: a node votes only once the marker key it carries is old enough. */
  MARKER;

  /** No guard. For tests, and for nodes that fsync every write. */
  public static RestartGuard off() {
    return OFF;
  }

  /** The default guard: uptime, run id and flushes. */
  public static RestartGuard uptime() {
    return UPTIME;
  }

  /** The stricter guard, which also sees a flush that happened while nobody was connected. */
  public static RestartGuard marker() {
    return MARKER;
  }
}
