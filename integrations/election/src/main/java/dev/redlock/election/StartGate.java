package dev.redlock.election;

import dev.redlock.Lease;
import dev.redlock.election.LeaderElection.StopReason;
import org.jspecify.annotations.Nullable;

/**
 * Decides for one tenure whether work is started: the executor of user code wants to start it, and
 * the queue of the election may have stopped it before. Safe from any thread.
 */
final class StartGate {
  private final Lease lease;

  // Guarded by this.
  private boolean started;
  private @Nullable StopReason reason;

  StartGate(Lease lease) {
    this.lease = lease;
  }

  /** Whether startWork may be called now, once; false if work was told to stop before. */
  boolean start() {
    boolean valid = lease.isValid(); // Reads clocks, which may be the user's: not under the lock.
    synchronized (this) {
      started = reason == null && valid;
      return started;
    }
  }

  /** Work is told to stop; false if startWork was not called, and never will be. */
  synchronized boolean stop(StopReason why) {
    reason = why;
    return started;
  }

  /** Why work was told to stop; null before. */
  synchronized @Nullable StopReason reason() {
    return reason;
  }
}
