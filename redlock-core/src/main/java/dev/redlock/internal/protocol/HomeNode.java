package dev.redlock.internal.protocol;

import dev.redlock.LockOptions;
import dev.redlock.internal.sets.Members;
import dev.redlock.spi.LockKeys;
import org.jspecify.annotations.Nullable;

/**
 * The one node of a name that keeps the queue of waiting processes. The rendezvous hash of name and
 * node makes it the same for all clients. A node that is down, quarantined, erring or seems to hang
 * is passed over. Clients may disagree on that for a moment, which costs time and never safety.
 */
final class HomeNode {
  /** A node that this client does not ask otherwise is asked again after this time. */
  private static final long OLD_NANOS = 1_000_000_000;

  private final Nodes nodes;

  private final String name;

  /** The members in the order in which they are the home node. */
  private int[] order = {};

  /** Those that are in order; none at first. */
  private @Nullable Members ordered;

  /** Limits guesses from slow replies: no waiter sleeps for longer than a reply may take. */
  private long timeoutNanos = 100_000_000;

  /** Fair mode: order matters more than time. */
  private boolean fair;

  /** When all nodes were last asked because what was known of one of them was old. */
  private long renewedNanos = Long.MIN_VALUE / 2;

  HomeNode(Nodes nodes, LockKeys keys) {
    this.nodes = nodes;
    name = keys.lockKey(0);
  }

  private int[] order() {
    Members members = nodes.members();
    if (!members.equals(ordered)) {
      order = new int[members.known()];
      long[] hashes = new long[order.length];
      int n = 0;
      for (long bits = members.mask(); bits != 0; bits &= bits - 1) {
        int node = Long.numberOfTrailingZeros(bits);
        long hash = hash(name, nodes.nameInSet(node));
        int at = n++; // Insertion sort: a stream would cost more than the hashes.
        for (; at > 0 && hashes[at - 1] < hash; at--) {
          order[at] = order[at - 1];
          hashes[at] = hashes[at - 1];
        }
        order[at] = node;
        hashes[at] = hash;
      }
      ordered = members;
    }
    return order;
  }

  /** The head of the local queue asks now: its node timeout and its fairness count from now on. */
  void use(LockOptions options) {
    timeoutNanos = options.nodeTimeout().toNanos();
    fair = options.fair();
  }

  /** The node whose queue to enter; −1 if all are passed over. */
  int node() {
    return pick(fair);
  }

  /**
   * The same in fair mode, or not. A client that goes to another node overtakes the queue of the
   * one before: in fair mode the {@link #fairPatience} has to pass first.
   */
  int pick(boolean fair) {
    for (int node : order()) {
      NodeKnowledge known = nodes.knowledge(node);
      if (nodes.status(node).votes() && !(fair ? known.silent() : known.hung())) {
        return node;
      }
    }
    return -1;
  }

  /**
   * The nodes that an acquire asks first, for one that does not ask all at once: the home node, and
   * a quorum of nodes that are well and about as fast as the others, in the order of the home node.
   * Clients of one name so ask the same nodes, and many names are spread over all. All nodes, if
   * there is no such quorum, if the others could not be asked in time, or if a node was not heard
   * of for a while: what is known of it is old. A node that hangs is not heard of: all are asked
   * once in that time, and the others suffice meanwhile.
   */
  long chooseMajority(long nowNanos) {
    int home = node();
    long mask = home < 0 ? 0 : 1L << home;
    Members members = nodes.members();
    int missing = members.quorum();
    for (int node : order()) {
      if (!nodes.status(node).votes()) {
        continue;
      }
      NodeKnowledge known = nodes.knowledge(node);
      if (nowNanos - known.heardNanos() > OLD_NANOS && nowNanos - renewedNanos > OLD_NANOS) {
        renewedNanos = nowNanos;
        return members.mask();
      }
      if (missing > 0 && isNear(node) && !known.hung()) {
        mask |= 1L << node;
        missing--;
      }
    }
    // One of them may hang: the patience and the round trip to the others must fit into the
    // timeout.
    boolean late = 2 * nodes.patience(mask) > timeoutNanos;
    return missing > 0 || late ? members.mask() : mask;
  }

  private boolean isNear(int node) {
    return nodes.knowledge(node).latencyNanos() <= 2 * nodes.roundTripNanos();
  }

  /** Whether the home node is about as fast as the others, and wakes the waiters of its queue. */
  boolean isNearAndWakes() {
    int node = node();
    return node >= 0 && nodes.notifiesWaiters(node) && isNear(node);
  }

  /**
   * How long fair mode waits for the home node: three quarters of the node timeout. If the node
   * hangs, the votes of the others must still count when the timer fires, which may be late.
   */
  static long fairPatience(long timeoutNanos) {
    return timeoutNanos - timeoutNanos / 4;
  }

  /** When a node that is asked to queue this process counts as hung. */
  long patienceWith(int node) {
    return fair
        ? fairPatience(timeoutNanos)
        : Math.min(timeoutNanos, nodes.knowledge(node).patience());
  }

  /** How long the first of this node's queue may be silent at its turn; −1 stands for any node. */
  long turnPatience(int node) {
    return node < 0
        ? 3 * roundTripNanos()
        : Math.min(timeoutNanos, nodes.knowledge(node).turnPatience(fair));
  }

  long roundTripNanos() {
    return Math.min(timeoutNanos, nodes.roundTripNanos());
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
