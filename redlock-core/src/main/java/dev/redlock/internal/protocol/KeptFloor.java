package dev.redlock.internal.protocol;

import dev.redlock.internal.protocol.Membership.Seen;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntToLongFunction;

/** Since when the members of a set keep its raised floor. */
final class KeptFloor {
  private KeptFloor() {}

  static long guardNanos(NodeRecord set) {
    return RestartGuard.guardTime(Duration.ofMillis(set.maxLeaseMillis())).toNanos();
  }

  /** The members that keep it, and since when on their own clocks, in microseconds. */
  static Map<String, Long> since(List<Seen> nodes, NodeRecord set) {
    Map<String, Long> since = new HashMap<>();
    for (Seen node : nodes) {
      if (keeps(node, set)) {
        since.put(node.record().name(), node.record().sinceMicros());
      }
    }
    return since;
  }

  private static boolean keeps(Seen node, NodeRecord set) {
    NodeRecord record = node.record();
    return node.says()
        && set.members().contains(record.name())
        && record.isOfSameSet(set)
        && record.isSealed();
  }

  /**
   * Whether each member has kept it for a guard time by its own clock.
   *
   * @param nodeMicros by number: the clock of the node; 0 if it is unknown
   */
  static boolean isOld(List<Seen> nodes, NodeRecord set, IntToLongFunction nodeMicros) {
    Set<String> old = new HashSet<>();
    for (int i = 0; i < nodes.size(); i++) {
      long age = nodeMicros.applyAsLong(i) - nodes.get(i).record().sinceMicros();
      if (keeps(nodes.get(i), set) && age * 1_000 >= guardNanos(set)) {
        old.add(nodes.get(i).record().name());
      }
    }
    return old.containsAll(set.members());
  }

  static boolean isReached(List<Seen> nodes, String name) {
    return nodes.stream().anyMatch(n -> n.alias().equals(name) && n.status().usable());
  }
}
