package dev.redlock.internal.protocol;

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

  private TokenWindow() {}
}
