package dev.redlock.internal.sets;

import dev.redlock.spi.NodeRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Completes the records of nodes that know less. */
final class MissingRecords {
  private MissingRecords() {}

  /**
   * What to write to which node.
   *
   * @param newest the newest record that a node has now
   * @param aliases the names of the nodes in the set, by number
   */
  static List<Tell> tells(List<Seen> nodes, NodeRecord newest, List<String> aliases) {
    List<Tell> tells = words(nodes, aliases);
    for (int i = 0; i < nodes.size(); i++) {
      Seen node = nodes.get(i);
      if (node.says() && newest.isSealed() && node.isBehind(newest)) {
        tells.add(tell(i, newest, aliases));
      }
    }
    return tells;
  }

  /** What other members say to those without a record. */
  static List<Tell> words(List<Seen> nodes, List<String> aliases) {
    List<Tell> tells = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      NodeRecord word = nodes.get(i).isEmpty() ? wordFor(aliases.get(i), nodes) : null;
      if (word != null) {
        tells.add(tell(i, word, aliases));
      }
    }
    return tells;
  }

  static Tell tell(int node, NodeRecord record, List<String> aliases) {
    NodeRecord named = record.by(record.ballot()).of(aliases.get(node));
    return new Tell(node, new NodeRecord.Change(NodeRecord.Change.Kind.TELL, named));
  }

  /**
   * The newest record of another member that names both of them; null if there is none. While a
   * change is open, that of the set before it counts: a member that is added vouches for none,
   * because the change may be given up, and another one made in its place.
   */
  private static @Nullable NodeRecord wordFor(String name, List<Seen> nodes) {
    NodeRecord best = null;
    for (Seen node : nodes) {
      NodeRecord said = node.record();
      NodeRecord record = said.isSealed() ? said : said.predecessor();
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
