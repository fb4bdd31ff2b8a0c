package dev.redlock.election;

import dev.redlock.Lease;
import dev.redlock.election.LeaderElection.StopReason;
import org.jspecify.annotations.Nullable;

/**
 * One period of leadership: one lease, and the work that is done under it. Confined to the serial
 * queue of the election, except for {@link #begin}.
 */
final class Tenure {
  final Lease lease;

  /** Written under this; read under this, or in the queue. Null until work is told to stop. */
  @Nullable StopReason reason;

  boolean releasing;

  /** Whether a liveness probe of the work has not completed yet. */
  boolean probing;

  /** Guarded by this. */
  private boolean called;

  Tenure(Lease lease) {
    this.lease = lease;
  }

  /** Whether startWork may be called now, once; false if work was told to stop before. */
  boolean begin() {
    boolean valid = lease.isValid(); // Reads clocks, which may be the user's: not under the lock.
    synchronized (this) {
      called = reason == null && valid;
      return called;
    }
  }

  /** Work is told to stop; false if startWork was not called, and never will be. */
  synchronized boolean stop(StopReason why) {
    reason = why;
    return called;
  }
}
