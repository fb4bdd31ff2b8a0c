package dev.redlock.internal.protocol;

import dev.redlock.internal.protocol.Membership.Seen;
import dev.redlock.internal.protocol.Membership.Tell;
import dev.redlock.spi.NodeRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Completes the records of nodes that know less. */
final class MissingRecords {
  private MissingRecords() {}

  /**
   * What to write to which node. One of which the set has nothing in common with this one may
   * belong to another deployment, although it is in the list of this client.
   *
   * @param newest the newest record that a node has now
   * @param aliases the names of the nodes in the set, by number
   */
  static List<Tell> tells(List<Seen> nodes, NodeRecord newest, List<String> aliases) {
    List<Tell> tells = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      Seen node = nodes.get(i);
      if (node.isEmpty()) {
        NodeRecord word = wordFor(aliases.get(i), nodes);
        if (word != null) {
          tells.add(tell(i, word, aliases));
        }
      } else if (node.says()
          && newest.isSealed()
          && isBehind(node.record(), newest)
          && node.record().members().stream().anyMatch(member -> isOrWas(member, newest))) {
        tells.add(tell(i, newest, aliases));
      }
    }
    return tells;
  }

  static Tell tell(int node, NodeRecord record, List<String> aliases) {
    NodeRecord named = record.by(record.ballot()).of(aliases.get(node));
    return new Tell(node, new NodeRecord.Change(NodeRecord.Change.Kind.TELL, named));
  }

  private static boolean isOrWas(String member, NodeRecord set) {
    return set.members().contains(member) || set.before().contains(member);
  }

  /** Whether a node that stores this knows less. */
  static boolean isBehind(NodeRecord stored, NodeRecord newest) {
    return stored.epoch() < newest.epoch()
        || (stored.epoch() == newest.epoch() && !stored.isSealed());
  }

  /**
   * The newest record of another member that names both of them; null if there is none. While a
   * change is open, a member that is being removed counts as well: an operator that continues may
   * need its promise.
   */
  private static @Nullable NodeRecord wordFor(String name, List<Seen> nodes) {
    NodeRecord best = null;
    for (Seen node : nodes) {
      NodeRecord record = node.record();
      boolean vouches =
          node.says()
              && !node.alias().equals(name)
              && record.concerns(name)
              && record.concerns(node.alias());
      if (vouches && (best == null || record.epoch() > best.epoch())) {
        best = record;
      }
    }
    return best;
  }
}
