package dev.redlock.operations;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a change of the set of nodes does now; see {@link Operations#addNode}. Its text is a
 * sentence for people: {@code waits for leases of the set before to end: 7 s}.
 *
 * @param doing what it does, or what it waits for, for people
 * @param nodes the names of the nodes that it asks, or for which it waits; empty if it does not
 *     depend on single ones
 * @param left how long it still waits, in whole seconds; null if it does not know
 */
public record SetProgress(String doing, List<String> nodes, @Nullable Duration left) {
  @Override
  public String toString() {
    return left == null ? doing : doing + ": " + left.toSeconds() + " s";
  }
}
