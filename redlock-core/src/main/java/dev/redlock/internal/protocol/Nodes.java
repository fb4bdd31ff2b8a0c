package dev.redlock.internal.protocol;

import dev.redlock.internal.sets.Members;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/**
 * The nodes as the protocol sees them, numbered. A number is never given to another node. Their
 * count rises when the set of members changes.
 */
public interface Nodes {
  /** How many have a number, members or not: 1 to 63. */
  int count();

  /** Those that decide now. */
  default Members members() {
    return Members.all(count());
  }

  /** The members with a probed connection. */
  default long usable() {
    long mask = 0;
    for (long bits = members().mask(); bits != 0; bits &= bits - 1) {
      mask |= status(Long.numberOfTrailingZeros(bits)).usable() ? bits & -bits : 0;
    }
    return mask;
  }

  /** Whether the votes of so many members count now that a round may be won. */
  default boolean hasQuorum() {
    Members members = members();
    return members.hasQuorum(i -> status(i).votes() && members.admittedBy(status(i).record()));
  }

  /** The node's name in reports. */
  String name(int node);

  /** Its name in the set, which all clients use, however they spell its address. */
  default String nameInSet(int node) {
    return name(node);
  }

  /** The newest known state of its connection. */
  NodeStatus status(int node);

  /**
   * Whether the reply counts in a round of these members: it is of the current connection, the
   * state is VOTING, and the node's record admits their epoch.
   */
  default boolean votes(int node, NodeReply reply, Members members) {
    NodeStatus status = status(node);
    return status.connection() == reply.connection()
        && status.state() == NodeStatus.State.VOTING
        && members.admittedBy(status.record());
  }

  /** The next member after this one that votes and does not hang; −1 if there is none. */
  default int healthyBeside(int node) {
    Members members = members();
    for (int i = 1; i < count(); i++) {
      int other = (node + i) % count();
      if (members.contains(other) && status(other).votes() && !knowledge(other).hung()) {
        return other;
      }
    }
    return -1;
  }

  /** What is known of its clock and speed; shared by all locks of a client. */
  NodeKnowledge knowledge(int node);

  /** Replaces what is known of the node by what this function makes of it. */
  void learn(int node, UnaryOperator<NodeKnowledge> change);

  /** The clocks of the members, as far as they are known, in ascending order. */
  default long[] clocksMicros(long nowNanos) {
    Members members = members();
    long[] clocks = new long[members.count()];
    int known = 0;
    for (long bits = members.mask(); bits != 0; bits &= bits - 1) {
      NodeKnowledge k = knowledge(Long.numberOfTrailingZeros(bits));
      if (k.clockKnown()) {
        clocks[known++] = k.estimateMicros(nowNanos);
      }
    }
    Arrays.sort(clocks, 0, known);
    return Arrays.copyOf(clocks, known);
  }

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
      learn(Long.numberOfTrailingZeros(bits), known -> known.overdue(failed));
    }
  }

  /** Whether the node tells waiting processes of a release, so that they need not poll it. */
  default boolean notifiesWaiters(int node) {
    return true;
  }

  /** The node has this many more releases to confirm, or fewer; the client counts all its locks. */
  default void releasesPending(int node, int change) {}

  /**
   * Whether the client has more of them than it keeps; a lock then gives up those without a caller.
   */
  default boolean tooManyReleasesPending() {
    return false;
  }

  /** How many rounds may be under way; shared by all locks of a client. */
  RoundLimiter limiter();

  /** Which leases may be extended now; shared by all locks of a client. */
  ExtendQueue extensions();

  /** The usual time of a round: the slowest node of the fastest quorum determines it. */
  default long roundTripNanos() {
    Members members = members();
    long[] latency = new long[members.count()];
    int n = 0;
    for (long bits = members.mask(); bits != 0; bits &= bits - 1) {
      latency[n++] = knowledge(Long.numberOfTrailingZeros(bits)).latencyNanos();
    }
    Arrays.sort(latency, 0, n);
    return latency[Math.max(0, Math.min(members.quorum(), n) - 1)];
  }
}
