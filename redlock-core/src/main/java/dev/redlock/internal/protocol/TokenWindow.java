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

  /**
   * How many tokens belong to one grant: the one that the nodes store, a multiple of this, and
   * those up to the next multiple, which need no question because nobody else ever proposes them.
   * They go to those of the same process to whom the grant is handed on.
   */
  public static final long PER_GRANT = 64;

  private TokenWindow() {}
}
