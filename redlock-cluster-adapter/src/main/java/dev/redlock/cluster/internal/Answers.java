package dev.redlock.cluster.internal;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.ReplyCode;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the answer of a master is worth as the answer of the whole.
 *
 * <p>A vote counts only if its own master's connection has not dropped since and that master votes:
 * what the state of the whole cannot tell is said by the number of the connection that the answer
 * carries, which is 0 for a vote that must not count.
 */
final class Answers {
  /** By then no vote that a quarantined master may have forgotten can be counted by anybody. */
  private static final long QUARANTINE_COUNTS_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final String name;
  private final Masters masters;

  Answers(String name, Masters masters) {
    this.name = name;
    this.masters = masters;
  }

  /** Why this master may not be asked to grant, though others may; null if it may. */
  @Nullable String mayNotGrant(MasterLink link) {
    NodeStatus its = link.status();
    if (its.state() == State.QUARANTINED && masters.status().state() == State.VOTING) {
      return "master " + link + " does not vote" + left(its.untilNanos()) + ": " + its.cause();
    }
    long barred = link.barredForNanos(masters.time().nanos());
    if (barred > 0) {
      return "master "
          + link
          + " was promoted, and does not vote for another "
          + TimeUnit.NANOSECONDS.toMillis(barred)
          + " ms";
    }
    return null;
  }

  private String left(long untilNanos) {
    return untilNanos == 0
        ? ""
        : " for another "
            + Math.max(0, TimeUnit.NANOSECONDS.toMillis(untilNanos - masters.time().nanos()))
            + " ms";
  }

  /** A definite answer: a vote only if its master's connection still stands. */
  NodeReply definite(LockRequest request, MasterLink link, NodeReply reply) {
    long number =
        masters.status().connection(); // Before the link's: that one's drop raises this one.
    boolean vote = request instanceof LockRequest.Acquire || request instanceof LockRequest.Extend;
    boolean counts = !vote || counts(link.status(), reply);
    return new NodeReply(
        reply.code(),
        counts ? number : 0,
        reply.nodeMicros(),
        reply.fence(),
        reply.remainingMillis(),
        reply.mark(),
        reply.othersInLine(),
        null);
  }

  private boolean counts(NodeStatus link, NodeReply reply) {
    if (link.connection() != reply.connection()) {
      return false;
    }
    return switch (link.state()) {
      case VOTING -> true;
      case QUARANTINED ->
          // While none of them votes the state of the whole tells the rest.
          masters.status().state() == State.QUARANTINED
              || ((reply.code() == ReplyCode.EXTENDED || reply.code() == ReplyCode.REPAIRED)
                  && masters.time().nanos() - link.sinceNanos() >= QUARANTINE_COUNTS_NANOS);
      default -> false;
    };
  }

  /** No definite answer of this master. */
  NodeReply none(MasterLink link, NodeError error) {
    boolean lost =
        error.kind() == NodeError.Kind.DISCONNECTED || error.kind() == NodeError.Kind.CLOSED;
    if (!lost) {
      return failure(error.kind(), name + ": " + error.message());
    }
    // Whoever waits for a new connection to say it again is told when there is one. Unless it is no
    // master any more: nothing to wait for, another has its slots.
    boolean comesBack = masters.isClosed() || masters.include(link);
    return failure(
        comesBack ? NodeError.Kind.DISCONNECTED : NodeError.Kind.CLUSTER,
        "master " + link + ": " + error.message());
  }

  /** Not sent: there is no connection at all. */
  NodeReply notSent() {
    return masters.isClosed()
        ? failure(NodeError.Kind.CLOSED, "the client is closed")
        : failure(NodeError.Kind.DISCONNECTED, masters.status().cause());
  }

  /** Not sent: there is no connection to this master. */
  NodeReply notSent(MasterLink link) {
    return masters.isClosed() || !masters.status().usable()
        ? notSent()
        : failure(NodeError.Kind.CLUSTER, "master " + link + ": " + link.status().cause());
  }

  NodeReply failure(NodeError.Kind kind, String message) {
    return NodeReply.failed(masters.status().connection(), kind, message);
  }
}
