package dev.redlock.internal.protocol;

import dev.redlock.internal.protocol.Membership.Seen;
import dev.redlock.spi.NodeRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why nodes must not vote although their connections are well.
 *
 * @param current the set that the client works with
 * @param starting whether this client has written the first record, and not all nodes have it
 * @param maxLeaseMillis the longest lease time of this client
 */
record Objections(NodeRecord current, Members members, boolean starting, long maxLeaseMillis) {

  /**
   * By node: the objection to it; null if it may vote.
   *
   * @param contradiction the objection to all nodes, or null
   */
  List<@Nullable String> to(List<Seen> nodes, @Nullable String contradiction) {
    List<@Nullable String> objections = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      objections.add(contradiction != null ? contradiction : to(nodes.get(i), members.contains(i)));
    }
    return objections;
  }

  private @Nullable String to(Seen node, boolean member) {
    if (!current.exists() || starting) {
      return node.keepsRecord() ? Membership.WAITS : null;
    }
    if (!member) {
      return "is no member of the set: " + current;
    }
    if (!node.keepsRecord()) {
      return current.epoch() > 1
          ? "shows no record of the set, which has changed: " + current
          : null;
    }
    if (node.isEmpty()) {
      return "has no record of the set yet: " + current;
    }
    return node.says() && maxLeaseMillis > node.record().longestGranted()
        ? longerThan(node.record())
        : null;
  }

  private String longerThan(NodeRecord record) {
    return "its record holds maxLeaseTime "
        + record.longestGranted()
        + " ms, and this client uses "
        + maxLeaseMillis
        + " ms: raise that of the nodes first, or lower that of this client";
  }
}
