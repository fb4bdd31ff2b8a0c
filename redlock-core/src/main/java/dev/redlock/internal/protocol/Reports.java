package dev.redlock.internal.protocol;

import static dev.redlock.AcquireVerdict.HELD;
import static dev.redlock.AcquireVerdict.QUEUE_FULL;
import static dev.redlock.AcquireVerdict.UNAVAILABLE;
import static dev.redlock.AcquireVerdict.UNDECIDED;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.AcquireVerdict;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.text.HolderMark;
import dev.redlock.internal.text.Printable;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns the replies of the nodes into the report for the user. */
final class Reports {
  private static final String CHANGED = "its answer counts no more: the node changed since";

  private Reports() {}

  /** The votes of a round, for a waiter that is refused now. */
  static AcquireReport of(
      Nodes nodes,
      LockKeys keys,
      @Nullable AcquireRound round,
      AcquireVerdict verdict,
      Waiter w,
      long now) {
    List<NodeVote> votes = new ArrayList<>();
    if (round != null) {
      round.members.indexes().forEach(i -> votes.add(vote(nodes, round, i, now)));
    }
    Duration overdue = Duration.ofNanos(round == null ? 0 : round.overdueNanos());
    int before = round == null || verdict != HELD ? 0 : queuedBefore(round);
    Members members = round == null ? nodes.members() : round.members;
    return report(keys, verdict, members, votes, since(w.submittedNanos, now), w, overdue, before);
  }

  private static AcquireReport report(
      LockKeys keys,
      AcquireVerdict verdict,
      Members members,
      List<NodeVote> votes,
      Duration waited,
      @Nullable Waiter w,
      Duration overdue,
      int before) {
    int rounds = w == null ? 1 : w.rounds;
    return new AcquireReport(
        keys.names(), verdict, members.quorum(), votes, waited, rounds, overdue, before, null);
  }

  /**
   * How many processes were queued before this one while the lock was free, as the replies say; 0
   * if a node stores a lease.
   */
  private static int queuedBefore(Exchange exchange) {
    int before = 0;
    for (NodeReply reply : exchange.replies()) {
      if (reply != null && reply.code() == Code.HELD) {
        return 0;
      }
      if (reply != null && reply.code() == Code.QUEUED) {
        before = Math.max(before, Math.max(1, reply.othersQueued()));
      }
    }
    return before;
  }

  /** This many callers of the client already wait: no node was asked for this one. */
  static AcquireReport queueFull(Nodes nodes, LockKeys keys, Waiter w, int waiting, long now) {
    Duration waited = since(w.submittedNanos, now);
    return report(keys, QUEUE_FULL, nodes.members(), List.of(), waited, w, Duration.ZERO, waiting);
  }

  /** What the home node replied to a waiter that was to be queued there, and gives up. */
  static AcquireReport ofQueued(
      Nodes nodes, LockKeys keys, QueueRequest queued, Waiter w, long now) {
    List<NodeVote> votes = new ArrayList<>();
    for (int i : queued.members.indexes().toArray()) {
      boolean early = queued.next != null && queued.is(i, Code.HELD);
      votes.add(
          early
              ? vote(nodes, i, Vote.HELD, Duration.ZERO, "asked while this client held the lock")
              : i == queued.node
                  ? replied(nodes, queued, i, now)
                  : vote(nodes, i, Vote.NOT_ASKED, Duration.ZERO, "only the home node was asked"));
    }
    AcquireVerdict verdict = queued.reply() == null ? UNDECIDED : HELD;
    Duration waited = since(w.submittedNanos, now);
    int before = queuedBefore(queued);
    return report(keys, verdict, queued.members, votes, waited, w, Duration.ZERO, before);
  }

  /**
   * Whether the home node has said since the round that the lock is free, or that it is not. After
   * an outage that is news only if a quorum votes again, and has replied since.
   */
  static boolean isNews(Nodes nodes, @Nullable QueueRequest queued, AcquireRound round) {
    if (queued == null || queued.reply() == null || queued.sentNanos() - round.sentNanos() <= 0) {
      return false;
    }
    return round.verdict().isHeld()
        ? (queuedBefore(queued) > 0) != (queuedBefore(round) > 0)
        : nodes.hasQuorum() && RoundLimiter.quorumHeardSince(round.sentNanos(), nodes);
  }

  /** The replies to a release: a node that has nothing to release needs not be asked. */
  static AcquireReport ofRelease(Nodes nodes, PendingRelease release, long now) {
    return ofReplies(nodes, release.request.keys(), release, release.untouched, now);
  }

  /** The replies to an extension: a node that did as asked voted GRANTED. */
  static AcquireReport ofReplies(Nodes nodes, LockKeys keys, Exchange exchange, long now) {
    return ofReplies(nodes, keys, exchange, 0, now);
  }

  private static AcquireReport ofReplies(
      Nodes nodes, LockKeys keys, Exchange exchange, long untouched, long now) {
    List<NodeVote> votes = new ArrayList<>();
    for (int i : exchange.members.indexes().toArray()) {
      votes.add(
          (untouched & 1L << i) == 0
              ? replied(nodes, exchange, i, now)
              : vote(nodes, i, Vote.NOT_ASKED, Duration.ZERO, "it does not store the lease"));
    }
    Duration waited = since(exchange.sentNanos(), now);
    return report(keys, UNAVAILABLE, exchange.members, votes, waited, null, Duration.ZERO, 0);
  }

  private static Duration since(long thenNanos, long nowNanos) {
    return Duration.ofNanos(Math.max(0, nowNanos - thenNanos));
  }

  private static NodeVote vote(
      Nodes nodes, int node, Vote vote, Duration took, @Nullable String error) {
    return new NodeVote(nodes.name(node), vote, took, error, null, null, null);
  }

  private static NodeVote vote(Nodes nodes, AcquireRound round, int i, long now) {
    NodeReply reply = round.reply(i);
    NodeStatus notAsked = round.recipients.notAsked(i);
    if (reply != null) {
      Duration took = since(round.sentNanos(i), round.answeredNanos(i));
      boolean late = round.answeredNanos(i) - round.deadlineNanos() > 0;
      if (late && reply.code().definite() && round.verdict() != HELD) {
        return late(nodes, i, round, reply, took);
      }
      return reply.code() == Code.GRANTED && !nodes.votes(i, reply, round.members)
          ? vote(nodes, i, Vote.SILENT, took, CHANGED)
          : vote(nodes, i, reply, took);
    }
    if (notAsked != null) {
      return unanswered(nodes, i, notAsked, Duration.ZERO, now);
    }
    if (!round.isOpen(i)) {
      boolean keptBack = (round.recipients.keptBack() & 1L << i) != 0;
      String why = keptBack ? "a majority was asked first" : "too few other nodes could have voted";
      return vote(nodes, i, Vote.NOT_ASKED, Duration.ZERO, why);
    }
    String why = NodeError.Kind.TIMEOUT + ": no answer yet";
    return vote(nodes, i, Vote.SILENT, since(round.sentNanos(i), now), why);
  }

  private static NodeVote late(
      Nodes nodes, int i, AcquireRound round, NodeReply reply, Duration took) {
    String why =
        "%s: %s came later than the node timeout of %s ms"
            .formatted(NodeError.Kind.TIMEOUT, reply.code(), round.timeoutNanos / 1_000_000L);
    return vote(nodes, i, Vote.SILENT, took, why);
  }

  private static NodeVote replied(Nodes nodes, Exchange exchange, int i, long now) {
    NodeReply reply = exchange.reply(i);
    Duration took = Duration.ofNanos(now - exchange.sentNanos());
    return reply == null
        ? unanswered(nodes, i, nodes.status(i), took, now)
        : vote(nodes, i, reply, Duration.ZERO);
  }

  private static NodeVote unanswered(
      Nodes nodes, int i, NodeStatus status, Duration took, long now) {
    if (status.erring() && status.state() == NodeStatus.State.VOTING) {
      return vote(nodes, i, Vote.SILENT, took, status.cause());
    }
    return switch (status.state()) {
      case QUARANTINED -> vote(nodes, i, Vote.QUARANTINED, took, quarantine(status, now));
      case CONNECTING, PROBING -> vote(nodes, i, Vote.SILENT, took, disconnected(status));
      case VOTING -> vote(nodes, i, Vote.SILENT, took, NodeError.Kind.TIMEOUT + ": no answer");
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
    String until = left <= 0 ? "" : "; votes in " + Printable.about(Duration.ofNanos(left));
    return status.cause() + until;
  }

  private static NodeVote vote(Nodes nodes, int i, NodeReply reply, Duration took) {
    return switch (reply.code()) {
      case GRANTED, ADMITTED, EXTENDED, REPAIRED, RELEASED, NOT_OWNER -> {
        if (nodes.status(i).connection() == reply.connection()) {
          yield vote(nodes, i, Vote.GRANTED, took, null);
        }
        yield vote(nodes, i, Vote.SILENT, took, CHANGED);
      }
      case HELD, LOST -> held(nodes, i, reply, took);
      case QUEUED -> vote(nodes, i, Vote.HELD, took, "others are queued before");
      case STALE -> {
        String why = "fence " + reply.fence() + ", node time " + reply.nodeMicros() + " µs";
        yield vote(nodes, i, Vote.STALE, took, why);
      }
      case FAILED -> {
        NodeError error = reply.error();
        yield vote(nodes, i, Vote.SILENT, took, error == null ? "failed" : error.toString());
      }
    };
  }

  private static NodeVote held(Nodes nodes, int i, NodeReply reply, Duration took) {
    String mark = reply.mark();
    if (mark == null) {
      return vote(nodes, i, Vote.HELD, took, null);
    }
    HolderMark holder = HolderMark.of(mark);
    Duration remaining = Duration.ofMillis(reply.remainingMillis());
    return new NodeVote(
        nodes.name(i), Vote.HELD, took, null, holder.hash(), remaining, holder.label());
  }
}
