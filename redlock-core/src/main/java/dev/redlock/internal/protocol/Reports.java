package dev.redlock.internal.protocol;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.AcquireReport.Verdict;
import dev.redlock.Vote;
import dev.redlock.spi.HolderMark;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns the replies of the nodes into the report for the user. */
final class Reports {
  private Reports() {}

  /** The votes of a round, for a waiter that is refused now. */
  static AcquireReport of(
      Nodes nodes,
      LockKeys keys,
      @Nullable AcquireRound round,
      Verdict verdict,
      Waiter w,
      long now) {
    List<NodeVote> votes = new ArrayList<>();
    if (round != null) {
      for (int i = 0; i < nodes.count(); i++) {
        votes.add(vote(nodes, round, i, now));
      }
    }
    return new AcquireReport(
        keys.names(),
        verdict,
        nodes.quorum(),
        votes,
        Duration.ofNanos(Math.max(0, now - w.submittedNanos)),
        w.rounds,
        Duration.ofNanos(round == null ? 0 : round.overdueNanos()));
  }

  static Verdict verdict(AcquireRound round) {
    return switch (round.verdict()) {
      case HELD -> Verdict.HELD;
      case COLLIDED -> Verdict.COLLIDED;
      case STALE -> Verdict.TOKENS_REFUSED;
      case TOO_SLOW -> Verdict.TOO_SLOW;
      case UNAVAILABLE -> Verdict.UNAVAILABLE;
      case UNDECIDED, WON -> Verdict.TIMED_OUT;
    };
  }

  /** What the home node replied to a waiter that was to be queued there, and gives up. */
  static AcquireReport ofQueued(
      Nodes nodes, LockKeys keys, QueueRequest queued, Waiter w, long now) {
    List<NodeVote> votes = new ArrayList<>();
    NodeReply reply = queued.reply();
    for (int i = 0; i < nodes.count(); i++) {
      String name = nodes.name(i);
      NodeStatus status = nodes.status(i);
      if (i != queued.node) {
        votes.add(
            new NodeVote(
                name, Vote.NOT_ASKED, Duration.ZERO, "only the home node was asked", null, null));
      } else if (reply != null) {
        votes.add(vote(name, status, reply, Duration.ZERO));
      } else {
        votes.add(unanswered(name, status, Duration.ofNanos(now - queued.sentNanos()), now));
      }
    }
    return new AcquireReport(
        keys.names(),
        reply == null ? Verdict.TIMED_OUT : Verdict.HELD,
        nodes.quorum(),
        votes,
        Duration.ofNanos(Math.max(0, now - w.submittedNanos)),
        w.rounds,
        Duration.ZERO);
  }

  /** The replies to an extension or a release: a node that did as asked voted GRANTED. */
  static AcquireReport ofReplies(Nodes nodes, LockKeys keys, Exchange exchange, long now) {
    long sent = exchange.sentNanos();
    List<NodeVote> votes = new ArrayList<>();
    for (int i = 0; i < nodes.count(); i++) {
      NodeReply reply = exchange.reply(i);
      votes.add(
          reply == null
              ? unanswered(nodes.name(i), nodes.status(i), Duration.ofNanos(now - sent), now)
              : vote(nodes.name(i), nodes.status(i), reply, Duration.ZERO));
    }
    return new AcquireReport(
        keys.names(),
        Verdict.UNAVAILABLE,
        nodes.quorum(),
        votes,
        Duration.ofNanos(Math.max(0, now - sent)),
        1,
        Duration.ZERO);
  }

  private static NodeVote vote(Nodes nodes, AcquireRound round, int i, long now) {
    String name = nodes.name(i);
    NodeReply reply = round.reply(i);
    NodeStatus notAsked = round.notAsked(i);
    if (reply != null) {
      Duration took = Duration.ofNanos(Math.max(0, round.answeredNanos(i) - round.sentNanos()));
      boolean late = took.toNanos() > round.timeoutNanos;
      return late && reply.code().definite() && round.verdict() != AcquireVerdict.HELD
          ? late(name, round, reply, took)
          : vote(name, nodes.status(i), reply, took);
    }
    if (notAsked != null) {
      return unanswered(name, notAsked, Duration.ZERO, now);
    }
    if (!round.isOpen(i)) {
      String why = "too few other nodes could have voted";
      return new NodeVote(name, Vote.NOT_ASKED, Duration.ZERO, why, null, null);
    }
    return new NodeVote(
        name,
        Vote.SILENT,
        Duration.ofNanos(Math.max(0, now - round.sentNanos())),
        NodeError.Kind.TIMEOUT + ": no answer yet",
        null,
        null);
  }

  private static NodeVote late(String name, AcquireRound round, NodeReply reply, Duration took) {
    return new NodeVote(
        name,
        Vote.SILENT,
        took,
        NodeError.Kind.TIMEOUT
            + ": "
            + reply.code()
            + " came later than the node timeout of "
            + round.timeoutNanos / 1_000_000L
            + " ms",
        null,
        null);
  }

  private static NodeVote unanswered(String name, NodeStatus status, Duration took, long now) {
    if (status.erring() && status.state() == NodeStatus.State.VOTING) {
      return new NodeVote(name, Vote.SILENT, took, status.cause(), null, null);
    }
    return switch (status.state()) {
      case QUARANTINED ->
          new NodeVote(name, Vote.QUARANTINED, took, quarantine(status, now), null, null);
      case CONNECTING, PROBING ->
          new NodeVote(name, Vote.SILENT, took, disconnected(status), null, null);
      case VOTING ->
          new NodeVote(name, Vote.SILENT, took, NodeError.Kind.TIMEOUT + ": no answer", null, null);
    };
  }

  /** The cause of a broken connection begins with its kind already. */
  private static String disconnected(NodeStatus status) {
    String kind = NodeError.Kind.DISCONNECTED + ": ";
    return status.cause().startsWith(kind)
        ? status.cause()
        : kind + status.state() + " " + status.cause();
  }

  private static String quarantine(NodeStatus status, long now) {
    long left = status.untilNanos() - now;
    return left <= 0 ? status.cause() : status.cause() + "; votes in " + left / 1_000_000L + " ms";
  }

  private static NodeVote vote(String name, NodeStatus status, NodeReply reply, Duration took) {
    return switch (reply.code()) {
      case GRANTED, ADMITTED, EXTENDED, REPAIRED, RELEASED, NOT_OWNER ->
          status.connection() == reply.connection()
              ? new NodeVote(name, Vote.GRANTED, took, null, null, null)
              : new NodeVote(
                  name,
                  Vote.SILENT,
                  took,
                  NodeError.Kind.DISCONNECTED + ": the connection broke after the answer",
                  null,
                  null);
      case HELD, LOST -> held(name, reply, took);
      case QUEUED -> new NodeVote(name, Vote.HELD, took, "others are queued before", null, null);
      case STALE ->
          new NodeVote(
              name,
              Vote.STALE,
              took,
              "fence " + reply.fence() + ", node time " + reply.nodeMicros() + " µs",
              null,
              null);
      case FAILED -> {
        NodeError error = reply.error();
        yield new NodeVote(
            name, Vote.SILENT, took, error == null ? "failed" : error.toString(), null, null);
      }
    };
  }

  private static NodeVote held(String name, NodeReply reply, Duration took) {
    String mark = reply.mark();
    if (mark == null) {
      return new NodeVote(name, Vote.HELD, took, null, null, null);
    }
    HolderMark holder = HolderMark.of(mark);
    Duration remaining = Duration.ofMillis(reply.remainingMillis());
    return new NodeVote(name, Vote.HELD, took, null, holder.hash(), remaining, holder.label());
  }
}
