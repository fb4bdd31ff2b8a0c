package dev.redlock.internal.protocol;

import static dev.redlock.internal.protocol.HeldLease.TOKENS_PER_GRANT;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;

/**
 * Which fencing token to propose.
 *
 * <p>Tokens must grow from lease to lease. The naive way takes the maximum of counters that the
 * nodes keep. It fails in this history: the nodes count {10, 1}, and A gets 10. The first node
 * restarts without its counter. The nodes count {2, 1}, and B gets 2, a lower token for a later
 * lease.
 *
 * <p>So the client proposes a token, as a Paxos proposer does its ballot, and the nodes vote on it.
 * A node grants a token above its fence, the highest token that it has seen, and in a {@linkplain
 * LockRequest.Acquire window} around its clock. The clock takes the place of a fence that was lost.
 * The median of the nodes' clocks is acceptable to a quorum unless a fence or a wrong clock
 * prevents it. Then the replies tell which token is acceptable, and the next round proposes that
 * one.
 *
 * <p>Every proposal is a multiple of {@link HeldLease#TOKENS_PER_GRANT}: a granted token includes
 * those up to the next multiple. The client's own clock only carries the nodes' clocks forward from
 * their last replies.
 */
final class TokenChoice {
  /** Room above a binding fence, so that the next proposals need no second round either. */
  private static final long MARGIN_MICROS = 100_000;

  private final Nodes nodes;
  private long highest;

  TokenChoice(Nodes nodes) {
    this.nodes = nodes;
  }

  /** The median of the nodes' clocks, but above every token known for the name. */
  long propose(long nowNanos) {
    if (highest > medianMicros(nowNanos) + LockRequest.Acquire.AHEAD_MICROS) {
      // A slow reply gave a wrong idea of the clocks, and no node granted the token proposed then.
      // It must not bar better tokens until time has caught up with it.
      highest = 0;
    }
    highest = atLeast(Math.max(medianMicros(nowNanos), highest + 1));
    return highest;
  }

  /**
   * After a round in which only the token was the obstacle: the median if no other token is
   * acceptable to more nodes, else the smallest that is acceptable to the most. Never one that only
   * a clock far ahead of the others accepts. Its node would keep that fence, and refuse what all
   * others grant until time has caught up with it.
   */
  long proposeAfter(AcquireRound r, long nowNanos) {
    long best = choose(r, nowNanos).token();
    highest = Math.max(highest, best);
    return best;
  }

  /**
   * After a round in which the token was the obstacle: how many of the nodes that were free would
   * accept one later token, and so did not refuse because their clocks differ.
   */
  int acceptLater(AcquireRound r, long nowNanos) {
    return choose(r, nowNanos).accepted();
  }

  /** A token, and how many of the nodes that were free would accept it. */
  private record Choice(long token, int accepted) {}

  private Choice choose(AcquireRound r, long nowNanos) {
    long[] above = new long[r.members.count()];
    long[] upTo = new long[above.length];
    int free = 0;
    for (long bits = r.members.mask(); bits != 0; bits &= bits - 1) {
      int i = Long.numberOfTrailingZeros(bits);
      NodeReply reply = r.reply(i);
      if (reply == null || reply.nodeMicros() == 0 || !isFree(reply)) {
        continue;
      }
      long clock = reply.nodeMicros() + (nowNanos - r.answeredNanos(i)) / 1000;
      above[free] = Math.max(reply.fence(), clock - LockRequest.Acquire.SLACK_MICROS);
      upTo[free] = clock + LockRequest.Acquire.AHEAD_MICROS;
      free++;
    }
    long median = medianMicros(nowNanos);
    long latest = median + LockRequest.Acquire.AHEAD_MICROS;
    long best = atLeast(Math.max(median, highest + 1));
    int most = acceptedBy(best, above, upTo, free);
    for (long room : new long[] {MARGIN_MICROS, 1}) { // narrow room only if it wins more nodes
      long before = most;
      for (int i = 0; i < free; i++) {
        long candidate = atLeast(Math.max(above[i] + room, highest + 1));
        if (candidate > latest) {
          continue;
        }
        int accepted = acceptedBy(candidate, above, upTo, free);
        if (accepted > most || (accepted == most && most > before && candidate < best)) {
          most = accepted;
          best = candidate;
        }
      }
    }
    return new Choice(best, most);
  }

  /** The smallest that may be proposed and is not below this. */
  private static long atLeast(long token) {
    return (token + TOKENS_PER_GRANT - 1) / TOKENS_PER_GRANT * TOKENS_PER_GRANT;
  }

  private static boolean isFree(NodeReply reply) {
    return reply.code() == Code.GRANTED || reply.code() == Code.STALE;
  }

  private static int acceptedBy(long token, long[] above, long[] upTo, int count) {
    int accepted = 0;
    for (int i = 0; i < count; i++) {
      accepted += token > above[i] && token <= upTo[i] ? 1 : 0;
    }
    return accepted;
  }

  /** Takes note of a stored fence, unless it lies beyond what any sane clock would have granted. */
  void seen(long fence, long nowNanos) {
    if (fence > highest && fence <= medianMicros(nowNanos) + LockRequest.Acquire.AHEAD_MICROS) {
      highest = fence;
    }
  }

  private long medianMicros(long nowNanos) {
    long[] clocks = nodes.clocksMicros(nowNanos);
    if (clocks.length == 0) {
      return 1; // No node has replied yet: the first replies say which token is acceptable.
    }
    // The lower of the two middle clocks: a token too low costs a round, as one too high does.
    return Math.max(1, clocks[(clocks.length - 1) / 2]);
  }
}
