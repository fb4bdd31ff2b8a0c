package dev.redlock.internal.operations;

import dev.redlock.DistributedLock;
import dev.redlock.LockOptions;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.sets.Seen;
import dev.redlock.internal.sets.Tell;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.Operations;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What the module for operators needs of its client. The client itself answers {@link #nodes()},
 * {@link #ready()} and {@link #unwrap}, with or without the module. Nodes have numbers from 0.
 */
public interface OperatorClient extends Operations {
  /** The name of the lock under which operators change the set: a listing shows who does it. */
  String SET_LOCK = "%set";

  /** Makes the operators' side of a client. Core finds it as a service. */
  interface Factory {
    Side side(OperatorClient client);
  }

  /**
   * All methods for operators. The client makes it when a user asks for it, and tells it from then
   * on what happens; these calls come on any thread, also in the actor of a lock, and do not block.
   */
  interface Side extends Operations {
    /** The lock with this key, or to which this key belongs, may have changed. */
    void changed(String key);

    void allChanged();

    /** The client closes; called once before its locks are closed, and once after it. */
    void closed();

    /** Nodes and timers are closed: no reply comes any more. */
    void ended();
  }

  /** The set of nodes with which the client works, as one that changes it sees it. */
  interface OperatedSet {
    /** The current record; {@link NodeRecord#NONE} at first. */
    NodeRecord current();

    /** All nodes that have a number, by their own status. */
    List<Seen> seen();

    /**
     * Connects to a node that may become a member, and stays connected; or no longer.
     *
     * @param name null for none
     * @return its number; −1 if this client cannot connect to it
     */
    int reserve(@Nullable String name, boolean needed);

    /**
     * Takes one step, with what the nodes of this deployment say and the current record, and sends
     * what it tells. The client decides nothing meanwhile.
     */
    <S> S advance(BiFunction<List<Seen>, NodeRecord, S> step, Function<S, List<Tell>> tells);

    /** Why the last change of the record of this node failed, for people. */
    String lastFailure(String name);
  }

  /**
   * The replies of all nodes to one request.
   *
   * @param reply by node; null if it has not replied in time
   * @param broken whether the node has confirmed that it stores no lease
   * @param isBroken whether so many have confirmed it that no lease has a quorum left
   */
  record Replies(IntFunction<@Nullable NodeReply> reply, IntPredicate broken, boolean isBroken) {}

  /**
   * The clock of a node.
   *
   * @param known whether a reply has told it
   * @param skew how far it is ahead of the median of the members; null if that is unknown
   * @param complaint what an operator should change; null if nothing
   */
  record Clock(boolean known, @Nullable Duration skew, @Nullable String complaint) {}

  // The client.

  /** With what its nodes were started: time, key prefix, restart guard, longest lease time. */
  LockNode.Context settings();

  LockOptions defaultOptions();

  /** A client that only observes has the lock {@link #SET_LOCK} alone, and then tells nodes. */
  DistributedLock lock(String name, LockOptions options);

  /** Runs the code of users. */
  Executor callbacks();

  boolean isClosed();

  /** Logs what foreign code threw, once per kind; the detail may be empty. */
  void report(String kind, String detail, Throwable failure);

  // Its nodes.

  OperatedSet set();

  Members members();

  /** Foreign code: its methods may throw. */
  LockNode node(int node);

  /** What the node replies to the question; the other value if it throws, or replies null. */
  <T> T ask(int node, String what, Function<LockNode, @Nullable T> question, T otherwise);

  NodeState state(int node);

  Clock clock(int node);

  /** Whether waiters learn of a release only when they ask this node again. */
  boolean isPolled(int node);

  // One lock.

  /**
   * Asks all nodes what they store; completes on a thread of the client or of a node.
   *
   * @param listens whether the nodes are to send an invalidation of the next change
   */
  CompletionStage<Replies> inspectOnAll(LockKeys keys, boolean listens);

  void stopListening(LockKeys keys);

  /**
   * Takes the lock from its holder on all nodes. Completes when each lock of this client that
   * shares the name has ended its lease, if a quorum has confirmed it.
   */
  CompletionStage<Replies> breakOnAll(LockKeys keys);
}
