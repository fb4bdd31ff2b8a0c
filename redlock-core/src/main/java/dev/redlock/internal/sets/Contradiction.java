package dev.redlock.internal.sets;

import dev.redlock.spi.NodeRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Two sealed sets of one epoch, or one set with two longest lease times: two deployments, of which
 * neither knew the other.
 */
final class Contradiction {
  private static final String REMEDY =
      "; two configurations were used for one deployment. Stop the clients with the wrong one, and"
          + " restart empty the masters that have its record";

  private Contradiction() {}

  /**
   * The objection to all nodes; null if nothing contradicts.
   *
   * @param current the set that the client works with
   * @param newest the newest record that a node has now
   * @param aliases the names of the nodes in the set, by number
   */
  static @Nullable String of(
      NodeRecord current, NodeRecord newest, List<Seen> nodes, List<String> aliases) {
    if (isContrary(current, newest)) {
      return "contradiction: this client works with %s, and a node says %s%s"
          .formatted(text(current, newest), text(newest, current), REMEDY);
    }
    for (int i = 0; i < nodes.size(); i++) {
      NodeRecord other = nodes.get(i).record();
      if (nodes.get(i).says() && isContrary(other, newest)) {
        int first = 0;
        while (!nodes.get(first).says() || !nodes.get(first).record().isOfSameSet(newest)) {
          first++;
        }
        return "contradiction: %s says %s, and %s says %s%s"
            .formatted(
                aliases.get(first),
                text(newest, other),
                aliases.get(i),
                text(other, newest),
                REMEDY);
      }
    }
    return null;
  }

  private static String text(NodeRecord one, NodeRecord other) {
    return one.members().equals(other.members())
        ? one + " with maxLeaseTime " + one.maxLeaseMillis() + " ms"
        : one.toString();
  }

  private static boolean isContrary(NodeRecord one, NodeRecord other) {
    return one.exists()
        && one.epoch() == other.epoch()
        && one.isSealed()
        && other.isSealed()
        && !one.isOfSameSet(other);
  }
}
