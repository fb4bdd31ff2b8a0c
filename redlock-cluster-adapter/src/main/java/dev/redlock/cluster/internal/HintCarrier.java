package dev.redlock.cluster.internal;

/**
 * Carries release hints from other processes to this one. A hint that is lost, late or duplicated
 * costs time only. No method blocks or throws. Safe from any thread.
 */
interface HintCarrier {

  /**
   * The command by which a release publishes its hint; see {@link
   * dev.redlock.lettuce.internal.scripts.EncodedRequest#of}.
   */
  String command();

  /**
   * A master refused a caller of this process, and the caller continues to wait: report releases
   * from then on.
   *
   * @param nodeMicros the master's clock when it refused
   */
  void watch(String lockKey, int slot, long nodeMicros);

  /** No caller of this process waits for the lock any more. The lock stays watched for 5 s. */
  void forget(String lockKey);

  /** A caller waits again. If the lock is still watched, it stays watched. */
  void revive(String lockKey);

  /** This client sends a release itself, and ignores the hint that the release publishes. */
  default void releasing(String lockKey, long token) {}

  /** The topology has changed. */
  default void onTopology() {}

  /** A master has a new connection or a new state. */
  default void onUsable(MasterLink link) {}

  /** A master sent the invalidation of a key with the suffix of hint keys. */
  default void onInvalidated(MasterLink link, String key) {}

  default void close() {}

  /** A carrier that publishes and reports nothing. */
  static HintCarrier none() {
    return new HintCarrier() {
      @Override
      public String command() {
        return "";
      }

      @Override
      public void watch(String lockKey, int slot, long nodeMicros) {}

      @Override
      public void forget(String lockKey) {}

      @Override
      public void revive(String lockKey) {}
    };
  }
}
