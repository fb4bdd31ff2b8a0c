package dev.redlock.spi;

/**
 * The window in which a node grants tokens, {@code now − slack ≤ T ≤ now + ahead} by its own clock.
 * Constants here and in the scripts, not options: two clients with different windows would break
 * each other's order.
 */
public final class TokenWindow {
  /** How far behind the node's clock a token may lie, in microseconds. */
  public static final long SLACK_MICROS = 2_000_000;

  /** How far ahead of the node's clock a token may lie, in microseconds. */
  public static final long AHEAD_MICROS = 2_000_000;

  /**
   * How many tokens belong to one grant: the one that the nodes store, a multiple of this, and
   * those up to the next multiple. No client proposes the latter, so no node is asked for them.
   * They go to the leases of one process that get the grant by local hand-off.
   */
  public static final long PER_GRANT = 64;

  private TokenWindow() {}
}
