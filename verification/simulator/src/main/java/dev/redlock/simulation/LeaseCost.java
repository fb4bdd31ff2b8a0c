package dev.redlock.simulation;

/**
 * What one lease id may cost after its round: releases and extensions, by node.
 *
 * <ul>
 *   <li>A <b>release</b> is sent once. It is repeated if its node failed it, if the node has
 *       changed its status since, if a grant arrived late, or if a later request wrote the key
 *       again. After failures the client pauses 20 ms, then twice as long up to 1 s; see {@link
 *       LockCost#repeats}.
 *   <li>An <b>extension</b> is sent for each third of the lease time. After a failure the client
 *       pauses for a tenth of the lease time, or a quarter of the remaining validity. This gives
 *       fewer than 20 extensions in a lease time. A caller may request one more. A hint may cause a
 *       check, one in 20 ms. A change of the node's status may cause an early extension.
 * </ul>
 */
final class LeaseCost {
  private static final int FREE_EXTENSIONS = 5;
  private static final int EXTENSIONS_PER_LEASE_TIME = 20;
  private static final long CHECK_NANOS = 20 * Scenario.MS;

  private final LockCost lock;
  private final SimClient client;
  private final String leaseId;
  private final int[] released;
  private final int[] reasons;
  private final boolean[] failed;
  private final int[] extended;

  /** The number of status changes of each link, at the newest release and at the grant. */
  private final int[] changes;

  private final int[] changesAtGrant;
  private boolean extending;
  private long grantMono;
  private long toldAtGrant;
  private long settledAtGrant;

  LeaseCost(SimLock lock, String leaseId) {
    this.lock = lock.cost;
    client = lock.client;
    this.leaseId = leaseId;
    int nodes = client.links.length;
    released = new int[nodes];
    reasons = new int[nodes];
    failed = new boolean[nodes];
    extended = new int[nodes];
    changes = new int[nodes];
    changesAtGrant = new int[nodes];
  }

  /** The key may be written again, or was written late. */
  void onWrite(int node) {
    reasons[node]++;
  }

  void onRelease(int node) {
    int now = client.links[node].changes;
    // A changed record of one node changes what the client may do with the others.
    boolean sameStatus = changes[node] == now && !client.world.scenario.changesSets();
    changes[node] = now;
    if (++released[node] > 1 && sameStatus) {
      if (reasons[node] == 0) {
        throw new Violation("cost", leaseId + " is released again without a reason");
      }
      if (failed[node]) {
        lock.repeats(node);
      }
    }
    reasons[node] = 0;
    failed[node] = false;
  }

  void onReleaseReply(int node, boolean confirmed) {
    failed[node] = !confirmed;
    if (confirmed) {
      lock.confirmed(node);
    } else {
      reasons[node]++;
    }
  }

  /** A lease begins. */
  void onGrant() {
    extending = true;
    grantMono = client.mono();
    toldAtGrant = client.told;
    settledAtGrant = lock.settled();
    for (int i = 0; i < changes.length; i++) {
      changesAtGrant[i] = client.links[i].changes;
    }
  }

  /** An extension is sent. */
  void onExtend(int node, long ttlNanos) {
    reasons[node]++;
    if (!extending) {
      return;
    }
    long took = client.mono() - grantMono;
    long checks = Math.min(client.told - toldAtGrant, took / CHECK_NANOS);
    long allowed =
        FREE_EXTENSIONS
            + took * EXTENSIONS_PER_LEASE_TIME / ttlNanos
            + checks
            + (lock.settled() - settledAtGrant)
            + (client.links[node].changes - changesAtGrant[node]);
    client.world.margins.require(Bound.EXTENSIONS, ++extended[node], allowed, leaseId);
  }
}
