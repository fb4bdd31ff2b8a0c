package dev.redlock.internal;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.mapping;

import dev.redlock.internal.sets.Objections;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Logs that too few nodes vote, and that they vote again; at the start no error while quarantines
 * end by themselves; and of each node, once, a fault that does not end by itself. An outage that
 * comes and goes is logged six times a minute at most. Confined to the heartbeat of the client.
 */
final class HealthLog {
  private static final long START_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long LASTING_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long an outage has to last if another one was logged less than a minute ago. */
  private static final long REPEATED_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** A password may be in the middle of a change. */
  private static final long REJECTED_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final ClientContext context;
  private boolean votedBefore;
  private @Nullable Long outageSince;
  private boolean told;
  private boolean announced;
  private long toldNanos;

  /** Nodes with a fault that does not end by itself, since when. */
  private final Map<Integer, Long> faultySince = new HashMap<>();

  /** Those of which this was logged. */
  private final Set<Integer> faultTold = new HashSet<>();

  HealthLog(ClientContext context) {
    this.context = context;
    toldNanos = context.time.nanos() - MINUTE_NANOS;
  }

  void review() {
    if (!context.log.isErrorEnabled()) {
      return;
    }
    long now = context.time.nanos();
    reviewQuorum(now);
    context.nodes.members().indexes().forEach(i -> reviewNode(i, now));
  }

  private void reviewQuorum(long now) {
    if (context.nodes.quorumVotes()) {
      if (told) {
        context.log.info("{} vote: this client gets locks again", context.nodes.voting());
      }
      votedBefore = true;
      outageSince = null;
      told = false;
      return;
    }
    if (outageSince == null) {
      outageSince = now;
    }
    if (told || now - outageSince < patience(now)) {
      return;
    }
    List<NodeState> members =
        context.nodes.members().indexes().mapToObj(context::nodeState).toList();
    int quorum = context.nodes.members().quorum();
    List<Duration> waits =
        members.stream().filter(HealthLog::willVote).map(NodeState::remaining).sorted().toList();
    String causes = causes(members);
    if (!votedBefore && waits.size() >= quorum) {
      if (!announced) {
        announced = true;
        context.log.info(
            "{} vote, and {} must: they will in {} s. {}",
            context.nodes.voting(),
            quorum,
            waits.get(quorum - 1).toSeconds() + 1,
            causes);
      }
      return;
    }
    told = true;
    toldNanos = now;
    context.log.error(
        "{} vote, and {} must: this client gets no new locks. {}",
        context.nodes.voting(),
        quorum,
        causes);
  }

  /** It votes, or it will when its quarantine ends. */
  private static boolean willVote(NodeState node) {
    return node.state() == NodeState.State.VOTING || node.remaining().compareTo(Duration.ZERO) > 0;
  }

  /** Why nodes do not vote: those with the same cause together. */
  private static String causes(List<NodeState> members) {
    Map<String, String> nodes =
        members.stream()
            .filter(node -> node.state() != NodeState.State.VOTING)
            .collect(
                groupingBy(
                    node -> node.state() + ": " + node.cause(),
                    LinkedHashMap::new,
                    mapping(NodeState::node, joining(", "))));
    return nodes.entrySet().stream()
        .map(group -> group.getValue() + ": " + group.getKey())
        .collect(joining("; "));
  }

  private long patience(long now) {
    if (!votedBefore) {
      return START_NANOS;
    }
    return now - toldNanos < MINUTE_NANOS ? REPEATED_NANOS : LASTING_NANOS;
  }

  private void reviewNode(int node, long now) {
    NodeStatus status = context.nodes.status(node);
    if (status.state() == NodeStatus.State.PROBING || Objections.isPassing(status.cause())) {
      return; // Between two attempts to connect, or others are.
    }
    long patience =
        switch (status.state()) {
          case PROBING, VOTING -> 0;
          case QUARANTINED -> status.untilNanos() == 0 ? START_NANOS : 0;
          case CONNECTING -> Objections.isRejection(status.cause()) ? REJECTED_NANOS : 0;
        };
    if (patience == 0) {
      faultySince.remove(node);
      faultTold.remove(node);
    } else if (now - faultySince.computeIfAbsent(node, i -> now) >= patience
        && faultTold.add(node)) {
      context.log.error(
          "node {} does not vote, and will not until an operator acts: {}",
          context.nodes.name(node),
          status.cause());
    }
  }
}
