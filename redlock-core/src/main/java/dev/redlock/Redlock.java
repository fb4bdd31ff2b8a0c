package dev.redlock;

import dev.redlock.operations.Operations;
import java.time.Duration;
import java.util.List;

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
   * @throws InvalidOptionException if the lease time is longer than {@code maxLeaseTime}
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
   * @throws InvalidOptionException if the lease time is longer than {@code maxLeaseTime}
   */
  ReentrantDistributedLock reentrantLock(String name, LockOptions options);

  /**
   * The state of locks and nodes, for operators and for checks at start-up. A decorator returns the
   * operations of the client that it decorates.
   */
  Operations operations();

  /**
   * Waits until a quorum of nodes votes; see {@link Operations#ready()}.
   *
   * @param timeout how long to wait at most; zero does not wait
   * @return false if the timeout passed before that; {@link Operations#nodes()} then has the
   *     reasons
   * @throws RedlockClosedException if the client is closed
   * @throws RedlockInterruptedException if the thread is interrupted; its interrupt flag is set
   */
  boolean awaitReady(Duration timeout);

  /** The options of {@link #lock(String)} and {@link #lock(List)}. */
  LockOptions defaultOptions();

  /**
   * Rejects new calls and fails waiters, both with {@link RedlockClosedException}, and releases all
   * leases. Then waits until the nodes confirm the releases: for 5 s at most, and for 500 ms (or
   * one node timeout, if longer) if no node replies. When it returns, no lease of this client is
   * valid; a call that ran at the same time ends with {@code RedlockClosedException}, or with a
   * lease that is released.
   *
   * <p>Then it waits until the threads of the client have ended, for 1 s at most, so that a
   * container may drop the class loader. A callback that blocks keeps its thread, and the client
   * logs this. In a callback, it does not wait for the current thread.
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
}
