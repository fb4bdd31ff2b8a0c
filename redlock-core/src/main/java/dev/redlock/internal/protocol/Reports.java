package dev.redlock.internal.protocol;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.AcquireReport.Verdict;
import dev.redlock.Vote;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns what the nodes said into what the user is told. */
final class Reports {
  private Reports() {}

  /** What a round saw, for a waiter that is refused now. */
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
        Quorum.of(nodes.count()),
        votes,
        Duration.ofNanos(Math.max(0, now - w.submittedNanos)),
        w.attempts);
  }

  static Verdict verdict(AcquireRound round) {
    return switch (round.verdict()) {
      case HELD -> Verdict.HELD;
      case COLLIDED -> Verdict.COLLIDED;
      case STALE -> Verdict.TOKENS_REFUSED;
      case TOO_SLOW -> Verdict.TOO_SLOW;
      case UNAVAILABLE -> Verdict.UNAVAILABLE;
      case UNDECIDED, WON -> Verdict.ABANDONED;
    };
  }

  /** What an extension or a release met with: who did as asked voted GRANTED. */
  static AcquireReport ofReplies(
      Nodes nodes, LockKeys keys, @Nullable NodeReply[] replies, long sent, long now) {
    List<NodeVote> votes = new ArrayList<>();
    for (int i = 0; i < nodes.count(); i++) {
      NodeReply reply = replies[i];
      votes.add(
          reply == null
              ? unanswered(nodes.name(i), nodes.status(i), Duration.ofNanos(now - sent), now)
              : vote(nodes.name(i), nodes.status(i), reply, Duration.ZERO));
    }
    return new AcquireReport(
        keys.names(),
        Verdict.UNAVAILABLE,
        Quorum.of(nodes.count()),
        votes,
        Duration.ofNanos(Math.max(0, now - sent)),
        1);
  }

  private static NodeVote vote(Nodes nodes, AcquireRound round, int i, long now) {
    String name = nodes.name(i);
    NodeReply reply = round.reply(i);
    NodeStatus notAsked = round.notAsked(i);
    if (reply != null) {
      Duration took = Duration.ofNanos(Math.max(0, round.answeredNanos()[i] - round.startNanos));
      return vote(name, nodes.status(i), reply, took);
    }
    if (notAsked != null) {
      return unanswered(name, notAsked, Duration.ZERO, now);
    }
    if (!round.isOpen(i)) {
      return new NodeVote(name, Vote.SILENT, Duration.ZERO, "not asked", null, null);
    }
    return new NodeVote(
        name,
        Vote.SILENT,
        Duration.ofNanos(Math.max(0, now - round.startNanos)),
        NodeError.Kind.TIMEOUT + ": no answer yet",
        null,
        null);
  }

  private static NodeVote unanswered(String name, NodeStatus status, Duration took, long now) {
    return switch (status.state()) {
      case QUARANTINED ->
          new NodeVote(name, Vote.QUARANTINED, took, quarantine(status, now), null, null);
      case CONNECTING, PROBING ->
          new NodeVote(
              name,
              Vote.SILENT,
              took,
              NodeError.Kind.DISCONNECTED + ": " + status.state() + " " + status.cause(),
              null,
              null);
      case VOTING ->
          new NodeVote(name, Vote.SILENT, took, NodeError.Kind.TIMEOUT + ": no answer", null, null);
    };
  }

  private static String quarantine(NodeStatus status, long now) {
    long left = status.untilNanos() - now;
    return left <= 0
        ? status.cause()
        : status.cause()
            + "; votes in "
            + left / 1_000_000L
            + " ms, or at once under RestartGuard.off() where nodes are known to be new";
  }

  private static NodeVote vote(String name, NodeStatus status, NodeReply reply, Duration took) {
    return switch (reply.code()) {
      case GRANTED, EXTENDED, REPAIRED, RELEASED, NOT_OWNER ->
          status.connection() == reply.connection()
              ? new NodeVote(name, Vote.GRANTED, took, null, null, null)
              : new NodeVote(
                  name,
                  Vote.SILENT,
                  took,
                  NodeError.Kind.DISCONNECTED + ": the connection broke after the answer",
                  null,
                  null);
      case HELD, LOST ->
          new NodeVote(
              name,
              Vote.HELD,
              took,
              null,
              reply.mark(),
              reply.mark() == null ? null : Duration.ofMillis(reply.remainingMillis()));
      case QUEUED -> new NodeVote(name, Vote.HELD, took, "others stand in line", null, null);
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
}
