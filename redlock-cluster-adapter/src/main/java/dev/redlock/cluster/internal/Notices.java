package dev.redlock.cluster.internal;

/**
 * How this process is told of releases by others. Only hints: whatever is lost, late or doubled
 * costs time at most. No method blocks or throws; all may be called from any thread.
 */
interface Notices {

  /** What a release sends; see {@link dev.redlock.internal.scripts.WireRequest#of}. */
  String command();

  /**
   * Somebody here was refused and goes on waiting: tell of releases from then on.
   *
   * @param nodeMicros the master's clock when it refused
   */
  void watch(String lockKey, int slot, long nodeMicros);

  /** Nobody here waits for it any more. What is watched stays watched for a few seconds. */
  void forget(String lockKey);

  /** Somebody here waits again: if it is still watched, it stays so. */
  void revive(String lockKey);

  /** A release of our own is being sent, which is no news to us. */
  default void releasing(String lockKey, long token) {}

  /** Slots have changed their masters. */
  default void onTopology() {}

  /** A master has a new connection, or another state. */
  default void onUsable(MasterLink link) {}

  /** A master pushed a key that ends like what releases are told under. */
  default void onPush(MasterLink link, String key) {}

  default void close() {}

  /** Nothing is told. */
  static Notices none() {
    return new Notices() {
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
