package dev.redlock.internal.protocol;

import dev.redlock.internal.protocol.Membership.Seen;
import dev.redlock.spi.NodeRecord;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntToLongFunction;

/** The members that keep the raised floor of their set. */
final class Keepers {
  private Keepers() {}

  /** Those members, and since when. */
  static Map<String, Long> of(List<Seen> nodes, NodeRecord set) {
    Map<String, Long> keepers = new HashMap<>();
    for (Seen node : nodes) {
      NodeRecord record = node.record();
      if (node.says()
          && set.members().contains(record.name())
          && record.isOfSameSet(set)
          && record.isSealed()) {
        keepers.put(record.name(), record.sinceMicros());
      }
    }
    return keepers;
  }

  /**
   * Whether each member has kept the raised floor for a guard time by its own clock. For a change
   * of its own an operator trusts no clock but its own.
   */
  static boolean areOld(
      List<Seen> nodes, NodeRecord set, IntToLongFunction nodeMicros, long guardNanos) {
    Set<String> old = new HashSet<>();
    for (int i = 0; i < nodes.size(); i++) {
      NodeRecord record = nodes.get(i).record();
      boolean same = nodes.get(i).says() && record.isOfSameSet(set);
      if (same && (nodeMicros.applyAsLong(i) - record.sinceMicros()) * 1_000 >= guardNanos) {
        old.add(record.name());
      }
    }
    return old.containsAll(set.members());
  }
}
