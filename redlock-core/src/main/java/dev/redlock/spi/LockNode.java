package dev.redlock.spi;

import dev.redlock.Redlock;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One independent Redis master (or one Redis Cluster seen as a single node) that votes on locks.
 *
 * <p>Asynchronous to the last: no method blocks, {@link #send} never throws, and every request is
 * answered exactly once, with {@link ReplyCode#FAILED} when no definite answer can be had. Requests
 * sent from one thread, one after another, while {@link NodeStatus#connection()} stays the same,
 * are executed by the node in that order; a release sent after an acquire therefore undoes it. An
 * implementation never resends a request by itself: it is at most once on the wire.
 */
public interface LockNode extends AutoCloseable {

  /** How this node is called in reports and logs; holds no credentials. */
  String name();

  /**
   * Begins to connect, and keeps trying until {@link #close()}. Returns at once; an unreachable
   * node is not an error. Called once, by the {@code Redlock} that owns this node.
   */
  void start(NodeContext context);

  /** The newest state of the connection. A cheap snapshot, safe from any thread. */
  NodeStatus status();

  /** What the server said about itself when it was last looked at; empty if that is not known. */
  default Optional<NodeIdentity> identity() {
    return Optional.empty();
  }

  /**
   * Looks at the server once more, for {@link Redlock#doctor()}. Completes with what there is to
   * know by then, never exceptionally, but possibly never if the node does not answer.
   */
  default CompletionStage<Optional<NodeIdentity>> look() {
    return CompletableFuture.completedStage(identity());
  }

  /**
   * Sends a request, or answers {@link ReplyCode#FAILED} when there is no probed connection or too
   * much is unanswered already. A quarantined node is sent requests like any other: who may vote is
   * decided by the protocol.
   *
   * @param handler called once, possibly before this method returns and on an I/O thread: it must
   *     not block
   */
  void send(LockRequest request, ReplyHandler handler);

  /**
   * Whether this node can decide on all these names at once; asked when a lock is made, before
   * anything is sent.
   *
   * @throws IllegalArgumentException naming the names that do not go together
   */
  default void requireServable(LockKeys keys) {}

  /**
   * Somebody in this process begins to wait for these names, also if only for the one round trip of
   * a free lock. For nodes that have to ask for hints; must neither block nor throw.
   */
  default void waiting(LockKeys keys) {}

  /** Nobody in this process waits for these names any more; pairwise with {@link #waiting}. */
  default void idle(LockKeys keys) {}

  /** Drops the connection. Unanswered requests are answered with {@link ReplyCode#FAILED}. */
  @Override
  void close();
}
