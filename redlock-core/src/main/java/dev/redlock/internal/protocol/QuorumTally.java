package dev.redlock.internal.protocol;

import dev.redlock.AcquireVerdict;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;

/**
 * How the votes of one round stand at one moment. A vote that was good when it came may have lost
 * its worth since, because its connection broke. A round therefore counts anew whenever it judges,
 * and keeps only its first verdict. If it did not, a lock that was refused as held could turn into
 * one that was unavailable when a further vote comes.
 */
final class QuorumTally {
  private final Nodes nodes;
  private final Exchange round;

  int granted;
  int held; // Nodes that store another lease; in an extension, nodes that have lost this one.
  int stale;

  /** Nodes whose vote counts for neither side: they failed, timed out, or were not asked. */
  int silent;

  /** Nodes whose vote may still come. */
  int open;

  QuorumTally(Nodes nodes, Exchange round) {
    this.nodes = nodes;
    this.round = round;
    silent = round.members.count() - round.members.known();
  }

  boolean isWon() {
    return granted >= round.members.quorum();
  }

  boolean mayBeWon() {
    return granted + open >= round.members.quorum();
  }

  /** Whether this many votes suffice to put a quorum out of reach. */
  boolean isBlockedBy(int votes) {
    return votes >= round.members.blocking();
  }

  // An acquire.

  void count(int node, NodeReply vote) {
    switch (vote.code()) {
      case GRANTED -> {
        if (nodes.votes(node, vote, round.members)) {
          granted++;
        } else {
          silent++;
        }
      }
      case HELD, QUEUED -> held++;
      case STALE -> stale++;
      default -> silent++;
    }
  }

  /** The verdict of a round that cannot be won. */
  AcquireVerdict refusal() {
    if (isBlockedBy(silent)) {
      return AcquireVerdict.UNAVAILABLE;
    }
    if (stale > 0 && !isBlockedBy(held + silent)) {
      return AcquireVerdict.STALE;
    }
    if (held == 0) {
      return stale > 0 ? AcquireVerdict.STALE : AcquireVerdict.UNAVAILABLE;
    }
    return isHeldBySome(open + silent) ? AcquireVerdict.HELD : AcquireVerdict.COLLIDED;
  }

  /** Whether one other lease could have a quorum, if the unknown nodes stored it as well. */
  boolean isHeldBySome(int unknown) {
    for (NodeReply reply : round.replies()) {
      if (reply != null
          && (reply.code() == Code.QUEUED
              || (reply.code() == Code.HELD
                  && markCount(reply) + unknown >= round.members.quorum()))) {
        return true;
      }
    }
    return false;
  }

  private int markCount(NodeReply holder) {
    String mark = holder.mark();
    int count = 0;
    for (NodeReply reply : round.replies()) {
      boolean holds = reply != null && reply.code() == Code.HELD;
      count += holds && mark != null && mark.equals(reply.mark()) ? 1 : 0;
    }
    return count;
  }
}
