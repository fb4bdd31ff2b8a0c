package dev.redlock.spi;

import java.util.List;

/**
 * Carries release hints between processes, beside the invalidations of the nodes: an event bus, a
 * stream. Hints may be lost, duplicated, late or forged; only speed depends on them.
 * Implementations never block and never throw.
 */
public interface ReleaseHints extends AutoCloseable {

  /** Begins to deliver hints to the receiver. Called once. */
  void start(Receiver receiver);

  /**
   * A caller of this process begins to wait for the name, if only for the one round trip of a free
   * lock.
   */
  default void waiting(String name) {}

  /**
   * A node refused a caller that waits for the name: another process has the lock. Called once at
   * most between a call of {@link #waiting} and its {@link #idle}.
   *
   * @param notified whether a quorum of nodes notifies this client of the release; see {@link
   *     LockNode#notifiesWaiters}
   */
  default void refused(String name, boolean notified) {}

  /** That caller no longer waits. One call for each call of {@link #waiting}. */
  default void idle(String name) {}

  /** A lease of this process ended or was handed off. The carrier may publish a hint. */
  void ended(Ended ended);

  /** Stops the delivery. */
  @Override
  void close();

  /** Whether, after {@link #close()}, its own threads have ended; see {@link LockNode#isEnded}. */
  default boolean isEnded() {
    return true;
  }

  /**
   * The end of a lease. Contains no lease id, because a hint is public.
   *
   * @param names the names of the lease
   * @param token its fencing token
   * @param reason why it ended
   */
  record Ended(List<String> names, long token, Reason reason) {
    public Ended {
      names = List.copyOf(names);
    }
  }

  /** Why a lease ended. */
  enum Reason {
    /** The lock was freed: waiters should ask for it. */
    RELEASED,
    /** Another waiter of the same process has the lock: waiters need not ask for it. */
    HANDED_OFF,
    /** The lease was lost or expired. */
    LOST
  }

  /** Receives hints. Safe from any thread, never blocks. */
  @FunctionalInterface
  interface Receiver {
    /** The name may be free now. */
    void mayBeFree(String name);
  }
}
