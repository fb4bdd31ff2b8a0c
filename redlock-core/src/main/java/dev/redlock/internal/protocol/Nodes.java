package dev.redlock.internal.protocol;

import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/** The configured nodes as the protocol sees them. Their number never changes. */
public interface Nodes {
  /** How many are configured: 1 to 63. */
  int count();

  /** ⌊n/2⌋ + 1 of the <em>configured</em> nodes, reachable or not: two quorums share a node. */
  default int quorum() {
    return count() / 2 + 1;
  }

  /** How many nodes must not grant before a quorum is out of reach; for even n a tie suffices. */
  default int blocking() {
    return count() - quorum() + 1;
  }

  /** A bit mask with one bit for each node. */
  default long all() {
    return (1L << count()) - 1;
  }

  /** The nodes with a probed connection. */
  default long usable() {
    long mask = 0;
    for (int i = 0; i < count(); i++) {
      mask |= status(i).usable() ? 1L << i : 0;
    }
    return mask;
  }

  /** The node's name in reports. */
  String name(int node);

  /** The newest known state of its connection. */
  NodeStatus status(int node);

  /** Whether the reply counts: it is of the current connection, and the state is VOTING. */
  default boolean votes(int node, NodeReply reply) {
    NodeStatus status = status(node);
    return status.connection() == reply.connection() && status.state() == NodeStatus.State.VOTING;
  }

  /** The next node after this one that votes and does not hang; −1 if there is none. */
  default int healthyBeside(int node) {
    for (int i = 1; i < count(); i++) {
      int other = (node + i) % count();
      if (status(other).votes() && !knowledge(other).hung()) {
        return other;
      }
    }
    return -1;
  }

  /** What is known of its clock and speed; shared by all locks of a client. */
  NodeKnowledge knowledge(int node);

  /** Replaces what is known of the node by what this function makes of it. */
  void learn(int node, UnaryOperator<NodeKnowledge> change);

  /** The node replied: when the request was sent, when the reply came, its clock in between. */
  default void heard(int node, long sentNanos, long answeredNanos, long nodeMicros) {
    learn(node, known -> known.observed(sentNanos, answeredNanos, nodeMicros));
  }

  /** How long the slowest of these nodes may take to reply: three times what it usually takes. */
  default long patience(long mask) {
    long patience = 0;
    for (long bits = mask; bits != 0; bits &= bits - 1) {
      patience = Math.max(patience, knowledge(Long.numberOfTrailingZeros(bits)).patience());
    }
    return patience;
  }

  /** Whether each of these nodes let a whole node timeout pass, or failed, the last time. */
  default boolean areSilent(long mask) {
    long bits = mask;
    while (bits != 0 && knowledge(Long.numberOfTrailingZeros(bits)).silent()) {
      bits &= bits - 1;
    }
    return bits == 0;
  }

  /** These nodes are slow; or, if {@code failed}, let a node timeout pass or failed. */
  default void blame(long mask, boolean failed) {
    for (long bits = mask; bits != 0; bits &= bits - 1) {
      learn(
          Long.numberOfTrailingZeros(bits),
          failed ? NodeKnowledge::failed : NodeKnowledge::overdue);
    }
  }

  /** Whether the node tells waiting processes of a release, so that they need not poll it. */
  default boolean notifiesWaiters(int node) {
    return true;
  }

  /** The node has this many more releases to confirm, or fewer; the client counts all its locks. */
  default void releasesPending(int node, int change) {}

  /** Whether the client has more of them than it keeps; each lock then gives up its oldest. */
  default boolean tooManyReleasesPending() {
    return false;
  }

  /** How many rounds may be under way; shared by all locks of a client. */
  RoundLimiter limiter();

  /** Which leases may be extended now; shared by all locks of a client. */
  ExtendQueue extensions();

  /** The usual time of a round: the slowest node of the fastest quorum determines it. */
  default long roundTripNanos() {
    long[] latency = new long[count()];
    for (int i = 0; i < latency.length; i++) {
      latency[i] = knowledge(i).latencyNanos();
    }
    Arrays.sort(latency);
    return latency[quorum() - 1];
  }
}
