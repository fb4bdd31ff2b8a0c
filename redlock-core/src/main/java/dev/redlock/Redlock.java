package dev.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * A client of N independent Redis masters that grants quorum locks. Make one per application and
 * share it: it is safe from any thread, and has one connection per node.
 *
 * <p>At no instant do two leases of one name both report positive validity, provided that clocks
 * run at about the same rate and nodes that forgot leases stay out. If a process is paused beyond
 * the validity of its lease, it learns this only when it runs again. Only a resource that checks
 * the {@linkplain Lease#fencingToken() fencing token} is safe from its late writes. See {@code
 * docs/safety.md}.
 */
public interface Redlock extends AutoCloseable {

  /** A builder with the defaults. */
  static RedlockBuilder builder() {
    return new RedlockBuilder();
  }

  /** A lock on one name, with {@link #defaultOptions()}. Sends nothing. */
  DistributedLock lock(String name);

  /**
   * A lock on one name with these options.
   *
   * @throws IllegalArgumentException if the lease time is longer than {@code maxLeaseTime}
   */
  DistributedLock lock(String name, LockOptions options);

  /**
   * A lock on several names: one round trip grants all of them, or none. Order and repetition of
   * names do not matter. Each name costs a master some microseconds per request, and other locks of
   * that master wait for it.
   *
   * @throws IllegalArgumentException if there are no names, or more than 1,000 different ones
   */
  DistributedLock lock(List<String> names);

  /** As {@link #lock(List)}, with these options. */
  DistributedLock lock(List<String> names, LockOptions options);

  /**
   * A {@link java.util.concurrent.locks.Lock} that a thread owns and may enter again without a
   * round trip. All reentrant locks of this client on one name share owner and count.
   */
  ReentrantDistributedLock reentrantLock(String name);

  /**
   * As {@link #reentrantLock(String)}, with these options. They apply when a thread enters that has
   * not entered the lock yet. If it enters again, the lease does not change.
   *
   * @throws IllegalArgumentException if the lease time is longer than {@code maxLeaseTime}
   */
  ReentrantDistributedLock reentrantLock(String name, LockOptions options);

  /**
   * Reports what each node stores for the name. Completes within the default node timeout; changes
   * nothing.
   */
  CompletionStage<LockInspection> inspect(String name);

  /**
   * Takes the lock from its holder, for operators. Deletes the keys on all nodes that reply; the
   * holder can neither extend nor repair them. Its lease ends as {@link LeaseEnd#LOST} at its next
   * round, or at once if an invalidation arrives. Until then the holder may continue to work, and
   * may hand the lock off locally within a node timeout of its grant: only the fencing token
   * protects the resource.
   *
   * @return what each node stored before; fails with {@link QuorumUnavailableException} if fewer
   *     nodes than a quorum confirmed
   */
  CompletionStage<LockInspection> breakLock(String name);

  /**
   * Lists the held locks of all clients with this key prefix, for operators. Lists the names that
   * match the pattern, in which {@code *} stands for any text, {@code ?} for one character, and a
   * backslash quotes.
   *
   * <p>Scans all keys of N − quorum + 1 nodes, one after another, over separate connections. Pauses
   * between steps, so that it hardly delays other requests. The listing is not a snapshot. It
   * contains each lock that the same nodes store during the whole listing. If a lock is granted,
   * ends or is repaired during the listing, the listing contains it once, twice or not at all. If a
   * node fails during the listing, its locks may appear twice. A node that cannot be read counts as
   * if it stored each lock. A lock on several names appears once for each name. Sends nothing
   * before {@link LockListing#next()}. Close the listing if you do not read it to its end.
   *
   * <p>The Redis user needs the permission {@code +scan}. In a Redis Cluster this method scans all
   * masters. If the slot of a lock moves during the listing, the lock may be missing, or appear
   * twice.
   *
   * @throws RedlockClosedException if the client is closed
   */
  LockListing list(String pattern);

  /**
   * Reports the state of a lock and each change of it, without acquiring it: whether it is held,
   * and by whom. Each subscriber receives the current state first. Changes arrive by invalidations,
   * or within {@link LockOptions#pollInterval()} of the default options if the nodes send none.
   * There are no two equal states in a row. If a subscriber is slow, or a lock changes more often
   * than 50 times per second, the subscriber misses states in between, but not the last state.
   *
   * <p>Calls the subscriber on the callback executor. Completes when the client is closed.
   *
   * @throws RedlockClosedException if the client is closed
   */
  Flow.Publisher<LockState> watch(String name);

  /**
   * Finds what makes locks unsafe or unavailable: clocks that differ, an eviction policy that drops
   * keys, replicas, nodes that do not vote. For operators and checks at start-up. Reads only;
   * completes within the default node timeout, even if nodes do not reply.
   */
  CompletionStage<Diagnosis> doctor();

  /**
   * Completes when a quorum of nodes votes, so that a free lock can be acquired; at once if a
   * quorum votes now. {@link RedlockBuilder#build()} returns before any node is connected, so a
   * {@code tryAcquire} right after it would fail. The quorum may be lost again later.
   *
   * <p>Fails with {@link RedlockClosedException} if the client is closed before. Does not fail for
   * unreachable nodes: the client connects to them again and again. A master that has just started
   * does not vote before it is {@code max(maxLeaseTime, 5 s) + 2 s} old, unless the restart guard
   * is off. Completes on the callback executor.
   */
  CompletionStage<Void> ready();

  /**
   * Waits until a quorum of nodes votes; see {@link #ready()}.
   *
   * @param timeout how long to wait at most; zero does not wait
   * @return false if the timeout passed before that; {@link #nodes()} then has the reasons
   * @throws RedlockClosedException if the client is closed
   * @throws RedlockInterruptedException if the thread is interrupted; its interrupt flag is set
   */
  boolean awaitReady(Duration timeout);

  /** The state of each node's connection, in the order of configuration. Sends nothing. */
  List<NodeState> nodes();

  /** The options of {@link #lock(String)} and {@link #lock(List)}. */
  LockOptions defaultOptions();

  /**
   * Returns the client that {@link #builder()} made, as this type. Modules of the library that need
   * more of a client than this interface has call it, for example elections. A decorator passes the
   * call on to the client that it decorates.
   *
   * @throws IllegalArgumentException if the client does not have this type
   */
  <T> T unwrap(Class<T> type);

  /**
   * Rejects new calls and fails waiters, both with {@link RedlockClosedException}, and releases all
   * leases. Then waits until the nodes confirm the releases: for 5 s at most, and for 500 ms (or
   * one node timeout, if longer) if no node replies. When it returns, no lease of this client is
   * valid; a call that ran at the same time ends with {@code RedlockClosedException}, or with a
   * lease that is released.
   *
   * <p>Idempotent: a second call returns when the first call returns. Never throws. May be called
   * from callbacks and listeners. If a callback executor runs a callback in the middle of a lock's
   * queue, and the callback closes the client, this method returns at once, and a thread of the
   * client finishes the close.
   */
  @Override
  void close();

  /**
   * Closes the client as {@link #close()}, but first waits until its leases have been released, for
   * the grace period at most. For the end of a process: tasks that hold locks finish their work.
   *
   * <p>Meanwhile the client extends leases as before. It grants no lock: waiters and new callers
   * fail with {@link RedlockClosedException}. A thread may still enter a reentrant lock that it
   * holds. Elections tell their work to stop, and another instance takes over when it has. After
   * the grace period, the client logs the names that are still held, and ends these leases as
   * {@link LeaseEnd#CLOSED}.
   *
   * <p>The grace period ends early if the thread is interrupted, which keeps its interrupt flag, or
   * if another thread calls {@code close()}. Do not call this method while the calling thread holds
   * a lease: it would wait for itself. In a callback in the middle of a lock's queue it returns at
   * once, as {@code close()} does.
   *
   * @throws IllegalArgumentException if the grace period is negative
   */
  void close(Duration grace);

  /**
   * The state of one node.
   *
   * @param node its name, without credentials
   * @param state the state of the connection
   * @param remaining how long a quarantine still lasts; zero otherwise
   * @param cause the reason, for people; may be empty
   * @param pendingReleases how many releases and roll-backs of this client the node has not
   *     confirmed. The client sends them again until the node confirms them or the keys have
   *     expired. Near zero unless the node is down; 100,000 at most over all nodes
   */
  record NodeState(
      String node, State state, Duration remaining, String cause, int pendingReleases) {

    /** The state of a connection: {@code CONNECTING → PROBING → (QUARANTINED →) VOTING}. */
    public enum State {
      /** There is no connection. The client connects again and again. */
      CONNECTING,
      /** The client reads identity, age and clock of the server. */
      PROBING,
      /** The server may have forgotten leases. It stores leases, and its votes do not count. */
      QUARANTINED,
      /** The votes of the node count. */
      VOTING,
      /**
       * The server answers with errors, which {@code cause} quotes. The client asks it for no new
       * lease. The client sends a trial every 200 ms; the node votes again when one succeeds.
       */
      ERRING
    }
  }
}
