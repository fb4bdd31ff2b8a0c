package dev.redlock.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.protocol.Effect;
import dev.redlock.internal.protocol.ExtendQueue;
import dev.redlock.internal.protocol.NodeKnowledge;
import dev.redlock.internal.protocol.Nodes;
import dev.redlock.internal.protocol.RoundLimiter;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.sets.Membership;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The nodes of a client, numbered, and what all locks of the client know of them. Nodes are added
 * when the set of members changes; a number is never given to another node.
 */
final class NodeSet implements Nodes {
  /**
   * How many releases may be pending over all nodes. One dead node at 28 releases per second
   * reaches it after one hour.
   */
  static final int PENDING_LIMIT = 100_000;

  private static final NodeStatus UNKNOWN = unreachable("status() failed with an exception");

  private static final NodeStatus CLOSED = unreachable("closed: it is no member any more");

  private static NodeStatus unreachable(String why) {
    return new NodeStatus(NodeStatus.State.CONNECTING, 0, 0, 0, why, false, NodeRecord.NONE);
  }

  private final AtomicReferenceArray<LockNode> nodes = new AtomicReferenceArray<>(Members.MAX);
  private final AtomicReferenceArray<String> names = new AtomicReferenceArray<>(Members.MAX);
  private final AtomicReferenceArray<NodeKnowledge> knowledge =
      new AtomicReferenceArray<>(Members.MAX);

  /** Written after the node, read before it. */
  private volatile int count;

  private volatile Members members;

  /** The names of the nodes in the set. Written before the members, read after them. */
  private volatile List<String> namesInSet = List.of();

  /** Nodes that were members, and are closed. Written by one thread at a time. */
  private volatile long closed;

  /** By node: why it must not vote although its connection is well; null if it may. */
  private final AtomicReferenceArray<@Nullable String> objections =
      new AtomicReferenceArray<>(Members.MAX);

  private final FailureLog failures;
  private final Logger log;

  /** By node: the releases of all names that it has not confirmed. */
  private final AtomicIntegerArray pending = new AtomicIntegerArray(Members.MAX);

  private final AtomicInteger allPending = new AtomicInteger();
  private final AtomicBoolean warnedOfPending = new AtomicBoolean();
  private final RoundLimiter limiter = new SharedRoundLimiter();
  private final ExtendQueue extensions = new SharedExtendQueue();

  NodeSet(List<LockNode> nodes, FailureLog failures, Logger log) {
    this.failures = failures;
    this.log = log;
    nodes.forEach(node -> add(node, node.name()));
    members = Members.all(count);
  }

  /** Numbers a node. Not safe from several threads at once. */
  int add(LockNode node, String name) {
    int index = count;
    nodes.set(index, node);
    names.set(index, name);
    knowledge.set(index, NodeKnowledge.NONE);
    count = index + 1;
    return index;
  }

  LockNode node(int index) {
    return nodes.get(index);
  }

  @Override
  public Members members() {
    return members;
  }

  /** From now on rounds ask these, whose names are in this list by number. */
  void members(Members next, List<String> inSet) {
    namesInSet = inSet;
    members = next;
  }

  /** Those that are not closed: the members, and nodes that were or will be members. */
  IntStream openIndexes() {
    long without = closed;
    return IntStream.range(0, count).filter(node -> (without & 1L << node) == 0);
  }

  boolean isClosed(int node) {
    return (closed & 1L << node) != 0;
  }

  int indexOf(LockNode node) {
    for (int i = 0; i < count; i++) {
      if (nodes.get(i) == node) {
        return i;
      }
    }
    throw new IllegalArgumentException("not a node of this client");
  }

  /** What the node replies to the question; the other value if it throws, or replies null. */
  <T> T ask(int node, String what, Function<LockNode, @Nullable T> question, T otherwise) {
    try {
      return requireNonNull(question.apply(nodes.get(node)));
    } catch (Throwable e) { // A node must not throw; nodes are foreign code too.
      failures.report(what + " of node " + names.get(node), e);
      return otherwise;
    }
  }

  /** Calls the node; what it throws is reported. */
  void tell(int node, String what, Consumer<LockNode> call) {
    try {
      call.accept(nodes.get(node));
    } catch (Throwable e) { // As above.
      failures.report(what + " of node " + names.get(node), e);
    }
  }

  /** Sends the request to each node of the mask; what a node throws becomes its reply. */
  void send(Effect.Send send, IntFunction<Consumer<NodeReply>> handlers) {
    for (long mask = send.mask(); mask != 0; mask &= mask - 1) {
      int node = Long.numberOfTrailingZeros(mask);
      Consumer<NodeReply> handler = handlers.apply(node);
      try {
        Failpoint.BEFORE_SEND.reached();
        nodes.get(node).send(send.request(), handler);
      } catch (Throwable e) { // As above.
        failures.report("sending to node " + names.get(node), e);
        long connection = status(node).connection();
        handler.accept(NodeReply.failed(connection, NodeError.Kind.UNEXPECTED, e.toString()));
      }
    }
  }

  /**
   * Tells nodes that a caller of this client waits for these names, or that none waits any more.
   *
   * @param told how many nodes know that a caller waits: those with the lowest numbers
   * @param wanted how many have to know it
   */
  void waiting(LockKeys keys, int told, int wanted) {
    for (int i = Math.min(told, wanted); i < Math.max(told, wanted); i++) {
      if (wanted > told) {
        tell(i, "waiting", node -> node.waiting(keys));
      } else {
        tell(i, "idle", node -> node.idle(keys));
      }
    }
  }

  boolean quorumVotes() {
    return members.hasQuorum(node -> status(node).votes());
  }

  /** How many nodes vote now, for people. */
  String voting() {
    long voting = members.indexes().filter(node -> status(node).votes()).count();
    return voting + " of " + members.count() + " nodes";
  }

  /** Whether a quorum of nodes notifies waiters of a release now. */
  boolean notifyWaiters() {
    return members.hasQuorum(this::notifiesWaiters);
  }

  @Override
  public boolean notifiesWaiters(int node) {
    return ask(node, "notifiesWaiters", LockNode::notifiesWaiters, false);
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public String name(int node) {
    return names.get(node);
  }

  @Override
  public String nameInSet(int node) {
    List<String> inSet = namesInSet;
    return node < inSet.size() ? inSet.get(node) : name(node);
  }

  /** The state of the node, which does not vote while there is an objection to it. */
  @Override
  public NodeStatus status(int node) {
    NodeStatus status = ownStatus(node);
    String objection = objections.get(node);
    return objection == null || status.state() != NodeStatus.State.VOTING
        ? status
        : new NodeStatus(
            objection.equals(Membership.WAITS)
                ? NodeStatus.State.PROBING
                : NodeStatus.State.QUARANTINED,
            status.connection(),
            status.sinceNanos(),
            0,
            status.erring() ? status.cause() + "; " + objection : objection,
            status.erring(),
            status.record());
  }

  /** Why the node must not vote, or null; returns whether that is news. */
  boolean object(int node, @Nullable String objection) {
    return !Objects.equals(objections.getAndSet(node, objection), objection);
  }

  /** What the node says of its connection; one that is being closed says nothing any more. */
  NodeStatus ownStatus(int node) {
    if (isClosed(node)) {
      return CLOSED;
    }
    try { // Not by ask(): each event asks for it many times.
      return requireNonNull(nodes.get(node).status());
    } catch (Throwable e) {
      failures.report("status of node " + names.get(node), e);
      return UNKNOWN;
    }
  }

  CompletionStage<NodeRecord> change(int node, NodeRecord.Change change) {
    return ask(
        node,
        "change",
        n -> n.change(change),
        CompletableFuture.failedStage(new IllegalStateException("change() failed")));
  }

  /** A node for this member; one that is absent if no other node can make it. */
  LockNode sibling(String name) {
    for (int i = 0; i < count; i++) {
      Optional<LockNode> made = ask(i, "sibling", n -> n.sibling(name), Optional.empty());
      if (made.isPresent()) {
        return made.get();
      }
    }
    return new AbsentNode(name);
  }

  /** The node is no longer one of those that are open. Not safe from several threads at once. */
  void markClosed(int node) {
    closed |= 1L << node;
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
          "more than {} releases are pending: no more are repeated, and their keys expire",
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
