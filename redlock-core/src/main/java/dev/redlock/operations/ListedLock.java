package dev.redlock.operations;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.text.Printable;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A lock that was held when it was listed; see {@link Operations#list}.
 *
 * @param name its name
 * @param holder a short hash of the holder's lease id, as in an {@link dev.redlock.AcquireReport}
 * @param holderLabel the {@linkplain dev.redlock.RedlockBuilder#label label} of the holder's
 *     client, a hint; null if it has none
 * @param remaining the time after which fewer nodes than a quorum store the lease, unless it is
 *     extended
 * @param highestTokenSeen the highest fencing token of the name that a node has seen; 0 if none.
 *     Not the token of the holder: see {@link LockInspection.NodeView#highestTokenSeen}
 * @param storedBy how many of the nodes that replied store the lease
 * @param waiting how many processes wait in the queue of each node, by the name of the node; nodes
 *     with an empty queue are left out
 */
public record ListedLock(
    String name,
    String holder,
    @Nullable String holderLabel,
    Duration remaining,
    long highestTokenSeen,
    int storedBy,
    Map<String, Integer> waiting) {
  public ListedLock {
    requireNonNull(name, "name");
    requireNonNull(holder, "holder");
    requireNonNull(remaining, "remaining");
    waiting = Map.copyOf(waiting);
  }

  /** All of it, printable: names may contain control characters. */
  @Override
  public String toString() {
    return Printable.of(
        "ListedLock[name="
            + name
            + ", holder="
            + holder
            + ", holderLabel="
            + holderLabel
            + ", remaining="
            + Printable.of(remaining)
            + ", highestTokenSeen="
            + highestTokenSeen
            + ", storedBy="
            + storedBy
            + ", waiting="
            + waiting
            + "]");
  }
}
