package dev.redlock.lettuce.internal;

import dev.redlock.spi.NodeIdentity;
import org.jspecify.annotations.Nullable;

/**
 * What was learned of a server before it was given to rounds.
 *
 * @param identity what {@code INFO} said, or null where the user may not ask
 * @param marker the node's marker, or null where it could not be read
 * @param nowMicros node time when that was asked; 0 if unknown
 * @param promoted a node of a cluster: it is a master that was a replica before, and has the keys
 *     of the master that it followed, whatever its age
 */
public record Probe(
    @Nullable NodeIdentity identity, @Nullable Marker marker, long nowMicros, boolean promoted) {

  public Probe(@Nullable NodeIdentity identity, @Nullable Marker marker) {
    this(identity, marker, marker == null ? 0 : marker.nowMicros(), false);
  }

  /**
   * The marker, as read or just set.
   *
   * @param maxLeaseMillis the longest lease time of the deployment that set it
   * @param sinceMicros node time when it was set
   * @param nowMicros node time when it was read
   */
  public record Marker(long maxLeaseMillis, long sinceMicros, long nowMicros) {}
}
