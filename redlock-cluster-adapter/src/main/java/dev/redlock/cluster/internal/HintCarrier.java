package dev.redlock.cluster.internal;

/**
 * Carries release hints of other processes to the {@link WatchedLocks}: what the Redis command of a
 * carrier needs, and no more. A hint that is lost, late or duplicated costs time only. No method
 * blocks or throws. Safe from any thread.
 */
interface HintCarrier {

  /**
   * What will report the releases of one lock.
   *
   * @param nodeMicros the master's clock when it refused the caller who waits
   */
  Source of(String lockKey, int slot, long nodeMicros);

  /** The server with this address is no longer a master. */
  default void forget(Address gone) {}

  default void close() {}

  /** Reports the releases of one lock. */
  interface Source {

    /** Makes the master of the slot report releases from now on, unless it does already. */
    void listen();

    /** The master may report no more: its connection is new, or it reports once for each call. */
    default void stopped() {}

    /** Called every 2 s while a caller waits, for what ended unnoticed. */
    default void refresh() {
      listen();
    }

    /** No caller has waited for a while. The source is not used again. */
    default void end() {}
  }
}
