package dev.redlock.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Vote;
import dev.redlock.internal.protocol.ExtendQueue;
import dev.redlock.internal.protocol.NodeKnowledge;
import dev.redlock.internal.protocol.Nodes;
import dev.redlock.internal.protocol.RoundLimiter;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The configured nodes, numbered, and what all locks of the client know of them. */
final class NodeSet implements Nodes {
  /**
   * How many releases may be pending over all nodes. One dead node at 28 releases per second
   * reaches it after one hour.
   */
  static final int PENDING_LIMIT = 100_000;

  private static final NodeStatus UNKNOWN =
      new NodeStatus(NodeStatus.State.CONNECTING, 0, 0, 0, "status() failed with an exception");

  private final LockNode[] nodes;
  private final String[] names;
  private final AtomicReferenceArray<NodeKnowledge> knowledge;
  private final FailureLog failures;
  private final Logger log;

  /** By node: the releases of all names that it has not confirmed. */
  private final AtomicIntegerArray pending;

  private final AtomicInteger allPending = new AtomicInteger();
  private final AtomicBoolean warnedOfPending = new AtomicBoolean();
  private final RoundLimiter limiter = new SharedRoundLimiter();
  private final ExtendQueue extensions = new SharedExtendQueue();

  NodeSet(List<LockNode> nodes, FailureLog failures, Logger log) {
    this.nodes = nodes.toArray(LockNode[]::new);
    this.failures = failures;
    this.log = log;
    pending = new AtomicIntegerArray(nodes.size());
    names = nodes.stream().map(LockNode::name).toArray(String[]::new);
    NodeKnowledge[] first = new NodeKnowledge[this.nodes.length];
    Arrays.fill(first, NodeKnowledge.NONE);
    knowledge = new AtomicReferenceArray<>(first);
  }

  LockNode node(int index) {
    return nodes[index];
  }

  int indexOf(LockNode node) {
    for (int i = 0; i < nodes.length; i++) {
      if (nodes[i] == node) {
        return i;
      }
    }
    throw new IllegalArgumentException("not a node of this client");
  }

  /** What the node replies to the question; the other value if it throws, or replies null. */
  private <T> T ask(int node, String what, Function<LockNode, @Nullable T> question, T otherwise) {
    try {
      return requireNonNull(question.apply(nodes[node]));
    } catch (Throwable e) { // A node must not throw; nodes are foreign code too.
      failures.report(what + " of node " + names[node], e);
      return otherwise;
    }
  }

  /** A caller of this client begins to wait for these names, or the last caller has stopped. */
  void waiting(LockKeys keys, boolean waits) {
    for (int i = 0; i < nodes.length; i++) {
      try {
        if (waits) {
          nodes[i].waiting(keys);
        } else {
          nodes[i].idle(keys);
        }
      } catch (Throwable e) {
        failures.report("waiting or idle of node " + names[i], e);
      }
    }
  }

  /** Whether a quorum of nodes votes now. */
  boolean quorumVotes() {
    return isQuorum(node -> status(node).votes());
  }

  /** How many nodes vote now, for people. */
  String voting() {
    long voting = IntStream.range(0, nodes.length).filter(node -> status(node).votes()).count();
    return voting + " of " + nodes.length + " nodes";
  }

  /** Whether a quorum of nodes notifies waiters of a release now. */
  boolean notifyWaiters() {
    return isQuorum(this::notifiesWaiters);
  }

  private boolean isQuorum(IntPredicate which) {
    return IntStream.range(0, nodes.length).filter(which).count() >= quorum();
  }

  @Override
  public boolean notifiesWaiters(int node) {
    return ask(node, "notifiesWaiters", LockNode::notifiesWaiters, false);
  }

  @Override
  public int count() {
    return nodes.length;
  }

  @Override
  public String name(int node) {
    return names[node];
  }

  @Override
  public NodeStatus status(int node) {
    try { // Not by ask(): each event asks for it many times.
      return requireNonNull(nodes[node].status());
    } catch (Throwable e) {
      failures.report("status of node " + names[node], e);
      return UNKNOWN;
    }
  }

  /**
   * The failure of a request of an operator: what was not done for these names.
   *
   * @param error why a node failed; null if it did not, and its vote is the given one
   */
  QuorumUnavailableException unavailable(
      String what, List<String> of, Vote otherwise, IntFunction<@Nullable String> error) {
    List<NodeVote> votes = new ArrayList<>();
    for (int i = 0; i < nodes.length; i++) {
      String why = error.apply(i);
      Vote vote = why == null ? otherwise : Vote.SILENT;
      votes.add(new NodeVote(names[i], vote, Duration.ZERO, why, null, null));
    }
    var verdict = AcquireReport.Verdict.UNAVAILABLE;
    return Results.untraced(
        new QuorumUnavailableException(
            what,
            new AcquireReport(of, verdict, quorum(), votes, Duration.ZERO, 1, Duration.ZERO)));
  }

  CompletionStage<Optional<NodeIdentity>> probe(int node) {
    return ask(node, "probe", LockNode::probe, CompletableFuture.completedStage(Optional.empty()));
  }

  /** What the node said of itself last; empty if it has not, or does not tell. */
  Optional<NodeIdentity> identity(int node) {
    return ask(node, "identity", LockNode::identity, Optional.empty());
  }

  @Override
  public NodeKnowledge knowledge(int node) {
    return knowledge.get(node);
  }

  @Override
  public void learn(int node, UnaryOperator<NodeKnowledge> change) {
    knowledge.updateAndGet(node, change);
  }

  /** How many releases the node has not confirmed. */
  int releasesPending(int node) {
    return pending.get(node);
  }

  @Override
  public void releasesPending(int node, int change) {
    pending.addAndGet(node, change);
    allPending.addAndGet(change);
  }

  @Override
  public boolean tooManyReleasesPending() {
    boolean tooMany = allPending.get() > PENDING_LIMIT;
    if (tooMany && warnedOfPending.compareAndSet(false, true)) {
      log.warn(
          "more than {} releases are pending: each lock gives up its oldest, and their keys expire",
          PENDING_LIMIT);
    }
    return tooMany;
  }

  @Override
  public RoundLimiter limiter() {
    return limiter;
  }

  @Override
  public ExtendQueue extensions() {
    return extensions;
  }
}
