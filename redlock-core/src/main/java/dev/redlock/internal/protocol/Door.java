package dev.redlock.internal.protocol;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeStatus;

/**
 * The one node of a name where those who wait ask first: the same for all clients, by rendezvous
 * hash of name and node. A node that is down, quarantined or seems hung is passed over; clients may
 * disagree on that for a moment, which costs time and never safety.
 */
final class Door {
  private final Nodes nodes;
  private final String name;
  private int[] order = {};

  Door(Nodes nodes, LockKeys keys) {
    this.nodes = nodes;
    name = keys.lockKey(0);
  }

  /**
   * The node to ask first; −1 if none will do.
   *
   * @param fair whether there is a line at the door: whoever goes to another one overtakes all who
   *     stand there, so a whole node timeout has to pass before that
   */
  int pick(boolean fair) {
    for (int node : order()) {
      NodeKnowledge known = nodes.knowledge(node);
      if (nodes.status(node).state() == NodeStatus.State.VOTING
          && !(fair ? known.silent() : known.hung())) {
        return node;
      }
    }
    return -1;
  }

  private int[] order() {
    if (order.length == 0) {
      int n = nodes.count();
      long[] score = new long[n];
      int[] sorted = new int[n];
      for (int i = 0; i < n; i++) {
        score[i] = hash(name, nodes.name(i));
        int at = i;
        for (; at > 0 && score[sorted[at - 1]] < score[i]; at--) {
          sorted[at] = sorted[at - 1];
        }
        sorted[at] = i;
      }
      order = sorted;
    }
    return order;
  }

  /** FNV-1a over both, finished as in MurmurHash3 so that similar names spread over all nodes. */
  static long hash(String name, String node) {
    long h = 0xcbf29ce484222325L;
    for (String part : new String[] {name, "\n", node}) {
      for (int i = 0; i < part.length(); i++) {
        h = (h ^ part.charAt(i)) * 0x100000001b3L;
      }
    }
    h = (h ^ h >>> 33) * 0xff51afd7ed558ccdL;
    h = (h ^ h >>> 33) * 0xc4ceb9fe1a85ec53L;
    return h ^ h >>> 33;
  }
}
