package dev.redlock.cluster.internal;

import dev.redlock.internal.text.Printable;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Turns the reply of a master into the reply of the cluster.
 *
 * <p>A vote counts only if the connection to its master has not dropped since, and the master's
 * state is {@code VOTING}. The state of the whole cluster cannot express that for one master. So a
 * vote that must not count carries the connection number 0.
 */
record ClusterReplies(String name, Masters masters, Share share) {
  /**
   * The time after which no client can still count a vote that a quarantined master may have
   * forgotten.
   */
  private static final long QUARANTINE_COUNTS_NANOS = TimeUnit.SECONDS.toNanos(3);

  NodeStatus status() {
    return share.status();
  }

  /** Whether this node carries the release hints of the names in this slot. */
  boolean carriesHints(int slot) {
    return share.carriesHints(slot);
  }

  /**
   * The reason why this master must not be asked to grant while other masters are asked; null if it
   * may be asked.
   */
  @Nullable String mayNotGrant(MasterLink link, int slot) {
    NodeStatus its = link.status();
    if (its.state() == State.QUARANTINED && status().state() == State.VOTING) {
      return "master " + link + " does not vote" + left(its.untilNanos()) + ": " + its.cause();
    }
    long barred = link.barredForNanos(masters.time().nanos());
    if (barred > 0) {
      return "master "
          + link
          + " was promoted and does not vote for another "
          + Printable.about(Duration.ofNanos(barred));
    }
    return masters.shares().secondVote(share, slot);
  }

  private String left(long untilNanos) {
    return untilNanos == 0
        ? ""
        : " for another "
            + Printable.about(Duration.ofNanos(Math.max(0, untilNanos - masters.time().nanos())));
  }

  /** A definite reply. It counts as a vote only if the connection to its master has not dropped. */
  NodeReply definite(LockRequest request, MasterLink link, NodeReply reply) {
    // Read before the link's number: a drop of the link raises this number afterwards.
    long number = share.numberOfVote(link);
    boolean counts = !isVote(request) || (counts(link.status(), reply) && isFirstVote(request));
    return numbered(reply, counts ? number : 0);
  }

  /** A definite reply after these steps. It counts as a vote only if each of them counts. */
  NodeReply definite(LockRequest request, List<KeySteps.Done> steps, NodeReply reply) {
    steps.forEach(step -> share.numberOfVote(step.link()));
    long number = status().connection(); // Read first, as above.
    boolean counts = true;
    for (KeySteps.Done step : steps) {
      counts &= counts(step.link().status(), step.reply());
    }
    return numbered(reply, !isVote(request) || (counts && isFirstVote(request)) ? number : 0);
  }

  /** Whether no other vote on the same names comes from the same master. */
  private boolean isFirstVote(LockRequest request) {
    return masters.shares().secondVote(share, Slots.of(request.keys(), 0)) == null;
  }

  private static boolean isVote(LockRequest request) {
    return request instanceof LockRequest.Acquire || request instanceof LockRequest.Extend;
  }

  private static NodeReply numbered(NodeReply reply, long number) {
    return new NodeReply(
        reply.code(),
        number,
        reply.nodeMicros(),
        reply.fence(),
        reply.remainingMillis(),
        reply.mark(),
        reply.othersQueued(),
        null);
  }

  private boolean counts(NodeStatus link, NodeReply reply) {
    return counts(link, reply, masters.time().nanos());
  }

  /**
   * Whether the reply of a master in this state may count. The state of the whole cluster does not
   * matter: while no master votes, it says so, but another master may vote before the round is
   * judged.
   */
  static boolean counts(NodeStatus link, NodeReply reply, long nowNanos) {
    if (link.connection() != reply.connection()) {
      return false;
    }
    return switch (link.state()) {
      case VOTING -> true;
      case QUARANTINED ->
          (reply.code() == Code.EXTENDED || reply.code() == Code.REPAIRED)
              && nowNanos - link.sinceNanos() >= QUARANTINE_COUNTS_NANOS;
      default -> false;
    };
  }

  /** The master sent no definite reply. */
  NodeReply none(MasterLink link, NodeError error) {
    boolean lost =
        error.kind() == NodeError.Kind.DISCONNECTED || error.kind() == NodeError.Kind.CLOSED;
    if (!lost) {
      return NodeReply.failed(
          status().connection(),
          new NodeError(error.kind(), name + ": " + error.message(), error.notExecuted()));
    }
    // DISCONNECTED says that the next connection will do. If the server is no longer a master, no
    // such connection comes: another master has its slots.
    boolean comesBack = share.isClosed() || masters.links().include(link);
    return failure(
        comesBack ? NodeError.Kind.DISCONNECTED : NodeError.Kind.CLUSTER,
        "master " + link + ": " + error.message());
  }

  /** Not sent: the cluster has no usable connection. */
  NodeReply notSent() {
    return share.isClosed()
        ? failure(NodeError.Kind.CLOSED, "the client is closed")
        : failure(NodeError.Kind.DISCONNECTED, status().cause());
  }

  /** Not sent: this master has no usable connection. */
  NodeReply notSent(MasterLink link) {
    return share.isClosed() || !status().usable()
        ? notSent()
        : failure(NodeError.Kind.CLUSTER, "master " + link + ": " + link.status().cause());
  }

  /** The reply after a step that failed: other steps may have been executed. */
  NodeReply afterSteps(NodeReply failure) {
    NodeError error = failure.error();
    return error == null || !error.notExecuted()
        ? failure
        : NodeReply.failed(failure.connection(), new NodeError(error.kind(), error.message()));
  }

  NodeReply failure(NodeError.Kind kind, String message) {
    return NodeReply.failed(status().connection(), kind, message);
  }
}
