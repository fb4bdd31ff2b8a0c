package dev.redlock.operations;

import org.jspecify.annotations.Nullable;

/**
 * The state of a lock, for a client that does not acquire it; see {@link Operations#watch}.
 *
 * @param name its name
 * @param status whether it is held
 * @param holder a short hash of the holder's lease id; null unless held
 * @param holderLabel the {@linkplain dev.redlock.RedlockBuilder#label label} of the holder's
 *     client, a hint; null if it has none, or the lock is not held
 * @param highestTokenSeen the highest fencing token of the name that a node has seen; 0 if none.
 *     Not the token of the holder: see {@link LockInspection.NodeView#highestTokenSeen}
 */
public record LockState(
    String name,
    Status status,
    @Nullable String holder,
    @Nullable String holderLabel,
    long highestTokenSeen) {
  /** Whether a lock is held. */
  public enum Status {
    /** A quorum of nodes stores one lease. */
    HELD,
    /** A quorum of nodes stores no lease. */
    FREE,
    /** Unknown: too few nodes replied, or a lease begins or ends at this moment. */
    UNKNOWN
  }
}
