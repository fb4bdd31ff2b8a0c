package dev.redlock.internal;

import dev.redlock.RedlockListener;
import dev.redlock.internal.protocol.WakeUp;
import java.util.List;

/**
 * A listener that is also told how a caller waits. Only tests need this: a user cannot act on it,
 * and the events are as frequent as the requests.
 */
public interface WaitProbe extends RedlockListener {

  /** The first waiter of the local queue is about to ask the nodes again. */
  default void onWakeUp(List<String> names, WakeUp cause) {}

  /**
   * The client sends a round, or a request to be queued.
   *
   * @param homeOnly whether it is a request to be queued, which only the home node receives
   */
  default void onRound(List<String> names, boolean homeOnly) {}
}
