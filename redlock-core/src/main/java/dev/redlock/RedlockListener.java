package dev.redlock;

import java.time.Duration;
import java.util.List;

/**
 * Told what happens. Called on the callback executor, in no strict order between names; what it
 * throws is logged and otherwise ignored. Override what you need.
 */
public interface RedlockListener {

  /** A lease was granted after {@code waited}. */
  default void onAcquired(Lease lease, Duration waited) {}

  /** A caller was refused or gave up. */
  default void onRefused(AcquireReport report) {}

  /** A lease was extended; {@code repaired} nodes had lost it and have it again. */
  default void onExtended(Lease lease, int repaired) {}

  /** An extension got no quorum; the lease goes on until its deadline. */
  default void onExtendFailed(Lease lease, Duration remainingValidity) {}

  /** A lease ended. */
  default void onEnded(Lease lease, LeaseEnd end) {}

  /** A caller joined the local queue, which now has this length. */
  default void onQueued(List<String> names, int length) {}

  /** A caller was turned away at once: the local queue was full, with this length. */
  default void onTurnedAway(List<String> names, int length) {}

  /** The waiter at the head of the local queue wakes up, and why. */
  default void onWakeUp(List<String> names, WakeUp cause) {}

  /** One question was put to the nodes (or, of a waiter, to the door alone). */
  default void onAttempt(List<String> names, boolean doorOnly) {}

  /** A node's connection changed. */
  default void onNode(Redlock.NodeState node) {}

  /** Why a waiter woke up. */
  enum WakeUp {
    /** A node, or another carrier, hinted that the lock may be free. */
    HINT,
    /** The time had come at which a quorum can be free. */
    EXPIRY,
    /** Neither for a while. */
    POLL,
    /**
     * The pause after a collision, after too few nodes answered, or because this client had as many
     * rounds under way as the nodes answer in time, was over.
     */
    PAUSE
  }
}
