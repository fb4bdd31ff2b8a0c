package dev.redlock.internal;

import dev.redlock.internal.protocol.Objections;
import dev.redlock.internal.sets.Members;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeStatus;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Logs that too few nodes vote, and that they vote again; and of each node, once, a fault that does
 * not end by itself. An outage that comes and goes is logged six times a minute at most. Confined
 * to the heartbeat of the client.
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
  private boolean outage;
  private long outageNanos;
  private boolean told;
  private boolean toldBefore;
  private long toldNanos;

  // By node: whether it has a fault that does not end by itself, since when, and whether it was
  // logged.
  private final boolean[] faulty;
  private final long[] faultyNanos;
  private final boolean[] faultTold;

  HealthLog(ClientContext context) {
    this.context = context;
    faulty = new boolean[Members.MAX];
    faultyNanos = new long[Members.MAX];
    faultTold = new boolean[Members.MAX];
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
      outage = false;
      told = false;
      return;
    }
    if (!outage) {
      outage = true;
      outageNanos = now;
    }
    if (!told && now - outageNanos >= patience(now)) {
      told = true;
      toldBefore = true;
      toldNanos = now;
      context.log.error(
          "{} vote, and {} must: this client gets no new locks. {}",
          context.nodes.voting(),
          context.nodes.members().quorum(),
          context
              .nodes
              .members()
              .indexes()
              .mapToObj(context::nodeState)
              .filter(node -> node.state() != NodeState.State.VOTING)
              .map(node -> node.node() + " is " + node.state() + ": " + node.cause())
              .collect(Collectors.joining("; ")));
    }
  }

  private long patience(long now) {
    if (!votedBefore) {
      return START_NANOS;
    }
    return toldBefore && now - toldNanos < MINUTE_NANOS ? REPEATED_NANOS : LASTING_NANOS;
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
          case CONNECTING -> isRejection(status.cause()) ? REJECTED_NANOS : 0;
        };
    if (patience == 0) {
      faulty[node] = false;
      faultTold[node] = false;
    } else if (!faulty[node]) {
      faulty[node] = true;
      faultyNanos[node] = now;
    } else if (!faultTold[node] && now - faultyNanos[node] >= patience) {
      faultTold[node] = true;
      context.log.error(
          "node {} does not vote, and will not until an operator acts: {}",
          context.nodes.name(node),
          status.cause());
    }
  }

  /** The server rejects this client, or this client the server. */
  private static boolean isRejection(String cause) {
    return cause.startsWith(NodeError.Kind.NOT_AUTHENTICATED + ":")
        || cause.startsWith(NodeError.Kind.NO_PERMISSION + ":")
        || cause.contains("TLS:");
  }
}
