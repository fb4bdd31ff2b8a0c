package dev.redlock;

import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply.Code;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Receives the events of the client; override the methods you need. The client calls them on the
 * callback executor, one after another: events of one name in their order, events of different
 * names in no strict order. After a pause of 10 ms it delivers an event at once. It delivers the
 * events that follow up to 10 ms later, together, so that thousands of events per second cost
 * little. The client logs the first exception of a method and ignores the others. A method that
 * blocks delays only later events of this listener: neither locks nor other callbacks nor other
 * listeners. Up to 100,000 events wait in memory for the listener; {@link #onDropped} reports how
 * many events did not fit.
 *
 * <p>A client without a listener computes and allocates nothing for events.
 */
public interface RedlockListener {

  /**
   * A lease was granted; the caller had waited this long. One {@link #onEnded} follows, also if the
   * caller had given up and the client releases the lease at once.
   */
  default void onAcquired(Lease lease, Duration waited) {}

  /** A lease was extended; {@code repaired} nodes had lost it and store it again. */
  default void onExtended(Lease lease, int repaired) {}

  /** An extension got no quorum; the lease stays valid until its deadline. */
  default void onExtendFailed(Lease lease, Duration remainingValidity) {}

  /**
   * A lease ended.
   *
   * @param held from the grant to the end
   * @param validityLeft how long the lease would still have been valid; near zero means that the
   *     holder came close to losing it
   */
  default void onEnded(Lease lease, LeaseEnd end, Duration held, Duration validityLeft) {}

  /**
   * A caller asks for a lock. Exactly one {@link #onWaiterLeft} follows for it, even if it was
   * granted the lock, refused or turned away at once.
   */
  default void onWaiterJoined(Caller caller) {}

  /**
   * A caller no longer waits: it got the lock, was refused, or gave up.
   *
   * @param waited since it asked
   * @param report how each node voted, if the acquire was refused; else null
   */
  default void onWaiterLeft(
      Caller caller, AcquireVerdict verdict, Duration waited, @Nullable AcquireReport report) {}

  /** A caller of this client got a lock that another caller or another process had before. */
  default void onHandOff(List<String> names, HandOff kind) {}

  /**
   * The attempt that a release hint or an invalidation caused is over.
   *
   * @param useful whether the waiter got the lock; if false, the hint was spurious, or another
   *     client was faster
   */
  default void onHint(List<String> names, boolean useful) {}

  /** The state of a node's connection changed. */
  default void onNode(NodeState node) {}

  /**
   * The number of requests of one kind that a node answered since the previous call. Called twice
   * per second for each kind that occurred, and when the client is closed. One call per request
   * would cost more than the request.
   */
  default void onNodeRequests(NodeRequests requests) {}

  /**
   * The number of releases and roll-backs that a node has not confirmed has changed since the
   * previous call. Called twice per second at most, and when the client is closed.
   *
   * @param pending see {@link NodeState#pendingReleases}
   */
  default void onPendingReleases(String node, int pending) {}

  /**
   * This listener was too slow: 100,000 events waited for it, and the client dropped this number of
   * further events. Counts that the listener keeps are too low from now on.
   */
  default void onDropped(long events) {}

  /**
   * A caller that asks for a lock.
   *
   * @param names the names of the lock, sorted
   * @param waits false for {@code tryAcquire} and a wait timeout of zero
   * @param fair whether the lock is in fair mode
   */
  record Caller(List<String> names, boolean waits, boolean fair) {
    public Caller {
      names = List.copyOf(names);
    }
  }

  /** From whom a caller got a lock that was not free. */
  enum HandOff {
    /** From another caller of this client, by the same grant: no node was asked. */
    LOCAL,
    /** From another process: a node had refused this client before. */
    PROCESS
  }

  /**
   * Requests of one kind that a node answered.
   *
   * @param node the name of the node
   * @param operation what it was asked to do
   * @param result what it replied; {@link Code#FAILED} if there was no definite reply
   * @param error why a request failed; null if it did not
   * @param count how many there were
   * @param total the sum of their latencies, from the request to the reply
   * @param longest the longest of their latencies
   */
  record NodeRequests(
      String node,
      LockRequest.Operation operation,
      Code result,
      NodeError.@Nullable Kind error,
      long count,
      Duration total,
      Duration longest) {}
}
