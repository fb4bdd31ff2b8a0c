package dev.redlock.cluster.internal;

import dev.redlock.lettuce.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockRequest;

/**
 * A request in the form in which it is sent to masters of a cluster.
 *
 * @param slot the slot of its keys, or {@link Slots#NONE}
 * @param fenceLifeMillis how long a fence key lives
 */
record ClusterWire(EncodedRequest request, int slot, long fenceLifeMillis) {

  /**
   * @param hintCommand the command by which the release script publishes the release hint
   */
  static ClusterWire of(LockRequest request, long fenceLifeMillis, String hintCommand) {
    return new ClusterWire(
        EncodedRequest.of(request, fenceLifeMillis, hintCommand),
        Slots.of(request.keys()),
        fenceLifeMillis);
  }
}
