package dev.redlock.lettuce.internal;

import dev.redlock.spi.NodeIdentity;
import org.jspecify.annotations.Nullable;

/**
 * What was learned of a server before it was given to rounds.
 *
 * @param identity what {@code INFO} said, or null where the user may not ask
 * @param marker the node's marker, or null where it could not be read
 */
public record Probe(@Nullable NodeIdentity identity, @Nullable Marker marker) {

  /**
   * The marker, as read or just set.
   *
   * @param maxLeaseMillis the longest lease time of the deployment that set it
   * @param sinceMicros node time when it was set
   * @param nowMicros node time when it was read
   */
  public record Marker(long maxLeaseMillis, long sinceMicros, long nowMicros) {}
}
