package dev.redlock.operations;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What each node stores for a name, at about the same time.
 *
 * @param name the name
 * @param quorum how many nodes must store a lease so that the lock is held
 * @param nodes what each node stores, in the order of configuration
 */
public record LockInspection(String name, int quorum, List<NodeView> nodes) {

  public LockInspection {
    nodes = List.copyOf(nodes);
  }

  /**
   * What one node stores.
   *
   * @param node its name
   * @param state the {@link NodeState.State}, with the remaining time of a quarantine
   * @param holder a short hash of the lease id stored there; null if free or unknown
   * @param remaining when the key expires; null if free or unknown
   * @param highestTokenSeen the highest fencing token that the node has seen; 0 if none or unknown.
   *     Later grants on this node have higher tokens. It is not the token of the holder: each
   *     attempt that was refused and rolled back raises it, and after a local hand-off the token of
   *     the holder may be up to 63 higher
   * @param error why nothing is known, or why the lock may be held although this node stores no
   *     lease: it belongs to another deployment, or the nodes show several. Else null
   * @param holderLabel the {@linkplain dev.redlock.RedlockBuilder#label label} of the holder's
   *     client, a hint; null if it has none, or the lock is free or unknown
   */
  public record NodeView(
      String node,
      String state,
      @Nullable String holder,
      @Nullable Duration remaining,
      long highestTokenSeen,
      @Nullable String error,
      @Nullable String holderLabel) {}
}
