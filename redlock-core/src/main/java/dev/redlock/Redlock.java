package dev.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * A client of N independent Redis masters that grants quorum locks. Make one per application and
 * share it: it is safe from any thread, and holds one connection per node.
 *
 * <p>What a lock promises, and what no lock with a time limit can promise, is in {@code
 * docs/safety.md}. In short: at no instant do two leases of one name both report positive validity,
 * while clocks run at about the same rate and nodes that forget are kept out; a process that was
 * paused beyond its validity is told so when it runs again, and only a resource that checks the
 * {@linkplain Lease#fencingToken() fencing token} is safe from its late writes.
 */
public interface Redlock extends AutoCloseable {

  /** Begins to configure a client. */
  static RedlockBuilder builder() {
    return new RedlockBuilder();
  }

  /** A lock on one name, with the options of the builder. Costs nothing and sends nothing. */
  DistributedLock lock(String name);

  /** A lock on one name with options of its own. */
  DistributedLock lock(String name, LockOptions options);

  /**
   * A lock on several names at once: all or nothing, in one round trip. Order and repetition of
   * names do not matter.
   */
  DistributedLock lock(List<String> names);

  /** A lock on several names at once with options of its own. */
  DistributedLock lock(List<String> names, LockOptions options);

  /**
   * A {@link java.util.concurrent.locks.Lock} that belongs to a thread and may be entered again by
   * it without a round trip. All locks of this client made for one name share their owner and
   * count.
   */
  ReentrantDistributedLock reentrantLock(String name);

  /** What each node knows of the name. Reads only. */
  CompletionStage<LockInspection> inspect(String name);

  /**
   * Takes the lock from whoever holds it: for operators. The keys are deleted on all nodes that
   * answer, and the holder can neither extend nor bring them back; it ends as {@link LeaseEnd#LOST}
   * when it next talks to a quorum, at once where pushes work. It may go on working until then, and
   * for up to a node timeout after its grant hand the lock on within its process: only the fencing
   * token protects the resource.
   *
   * @return what each node held before; fails with {@link QuorumUnavailableException} when fewer
   *     than a quorum confirmed
   */
  CompletionStage<LockInspection> breakLock(String name);

  /**
   * Looks at every node for what makes locks unsafe or unavailable: clocks that differ, an eviction
   * policy that drops keys, replicas, a node that does not vote, and why. For operators and
   * start-up checks. Reads only; completes within the default node timeout, also when nodes do not
   * answer.
   */
  CompletionStage<Diagnosis> doctor();

  /** The state of each node's connection, in the order of configuration. Sends nothing. */
  List<NodeState> nodes();

  /** The options that {@link #lock(String)} uses. */
  LockOptions defaultOptions();

  /**
   * Refuses new work, fails waiters with {@link LockTimeoutException}, releases what is held, and
   * finishes clean-up: for as long as nodes get on with it, five seconds at most, and half a second
   * (or one node timeout) where none does. Idempotent; returns without throwing.
   */
  @Override
  void close();

  /**
   * One node's connection.
   *
   * @param node its name, without credentials
   * @param state {@code CONNECTING}, {@code PROBING}, {@code QUARANTINED} or {@code VOTING}
   * @param remaining how long a quarantine still lasts; zero otherwise
   * @param cause why, for people; may be empty
   * @param pendingCleanups how many releases and roll-backs the node has not confirmed to this
   *     client: they are sent again until it does, or until their keys are dead anyway. Rises while
   *     a node is down, and is near zero otherwise; 100,000 at most over all nodes
   */
  record NodeState(
      String node, String state, Duration remaining, String cause, int pendingCleanups) {}
}
