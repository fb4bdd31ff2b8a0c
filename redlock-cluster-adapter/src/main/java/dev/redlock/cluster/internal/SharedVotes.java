package dev.redlock.cluster.internal;

import static dev.redlock.cluster.internal.Log.log;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Detects slots of one name on one master, which would then have two votes. Called for each new
 * topology; logs only changes.
 */
final class SharedVotes {
  private final String name;
  private final Spread spread;
  private final boolean allowed;

  /**
   * For each node, the number of positions at which a node with a lower number has the vote of the
   * master. Written when a topology is adopted, read by any thread.
   */
  private volatile int[] shared;

  SharedVotes(String name, Spread spread, boolean allowed) {
    this.name = name;
    this.spread = spread;
    this.allowed = allowed;
    shared = new int[spread.nodes()];
  }

  void onTopology(Topology topology) {
    int[] now = new int[spread.nodes()];
    String example = "";
    for (int node = 1; node < now.length; node++) {
      int[] positions = spread.sharedPositions(node, topology);
      now[node] = positions.length;
      if (positions.length > 0 && example.isEmpty()) {
        int slot = spread.first(node) + positions[0];
        int other = spread.first(spread.sharer(node, slot, topology)) + positions[0];
        Topology.Server owner = topology.owner(slot);
        example =
            other + " and " + slot + " on " + (owner == null ? "?" : owner.endpoints().get(0));
      }
    }
    if (Arrays.equals(shared, now)) {
      return;
    }
    shared = now;
    int all = Arrays.stream(now).sum();
    if (all == 0) {
      log.info("{}: the slots of each name are on different masters again", name);
    } else {
      log.warn(
          "{}: some names have two slots on one master, for example {}; this is so for {} of {}"
              + " slots. {}",
          name,
          example,
          all,
          spread.length() * (spread.nodes() - 1),
          allowed
              ? "Both votes count, as allowed: one failover can grant such a name twice"
              : "The second vote does not count");
    }
  }

  /** Why this node must not vote at all; null if it may. */
  @Nullable String objection(int node) {
    return !allowed && shared[node] == spread.length()
        ? "each of its slots is on a master that has another slot of the same names, and one"
            + " master must not have two votes: spread mode needs as many masters as nodes"
        : null;
  }
}
