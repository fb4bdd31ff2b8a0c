package dev.redlock.cluster.internal;

import dev.redlock.internal.scripts.WireRequest;
import dev.redlock.spi.LockRequest;

/**
 * A request as it is sent to masters of a cluster. A type of its own, so that a request which goes
 * to independent masters as well is encoded for each of them.
 *
 * @param slot where its keys are, or {@link Slots#NONE}
 * @param notice what its release sends; clusters of one lock may differ in that
 */
record ClusterWire(WireRequest request, int slot, String notice) {

  static ClusterWire of(LockRequest request, long fenceLifeMillis, String notice) {
    ClusterWire wire =
        request.wireForm(ClusterWire.class, asked -> encode(asked, fenceLifeMillis, notice));
    return wire.notice.equals(notice) ? wire : encode(request, fenceLifeMillis, notice);
  }

  private static ClusterWire encode(LockRequest request, long fenceLifeMillis, String notice) {
    return new ClusterWire(
        WireRequest.of(request, fenceLifeMillis, notice), Slots.of(request.keys()), notice);
  }
}
