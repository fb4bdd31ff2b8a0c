package dev.redlock.spi;

import java.util.List;

/**
 * A carrier of release hints between processes, besides the pushes of the nodes themselves: an
 * event bus, a stream. Hints may be lost, doubled, late or forged; nothing but speed depends on
 * them. Implementations never block and never throw.
 */
public interface ReleaseHints extends AutoCloseable {

  /** Begins to deliver hints to the receiver. Called once. */
  void start(Receiver receiver);

  /**
   * Somebody in this process begins to wait for the name. Calls for one name are counted pairwise.
   */
  default void waiting(String name) {}

  /** Nobody in this process waits for the name any more. */
  default void idle(String name) {}

  /** A lease of this process has ended or was handed on; others may be told. */
  void ended(Ended ended);

  /**
   * A node pushed to this process that the name may be free, which it may not have pushed to others
   * (an expiry, an administrator's deletion). Never for what this or another carrier delivered.
   */
  default void pushed(String name) {}

  /** Stops delivering. */
  @Override
  void close();

  /**
   * The end of a lease, to be told to others. Holds no lease id on purpose.
   *
   * @param names what the lease covered
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
    /** The lock was freed: worth waking up for. */
    RELEASED,
    /** It went to another waiter of the same process: nothing to gain by waking up. */
    HANDED_OFF,
    /** It was lost or has expired. */
    LOST
  }

  /** Takes hints. Safe from any thread, never blocks. */
  @FunctionalInterface
  interface Receiver {
    /** The name may be free now. */
    void mayBeFree(String name);
  }
}
