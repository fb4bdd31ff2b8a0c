package dev.redlock.internal.protocol;

import dev.redlock.AcquireReport;
import dev.redlock.LeaseEnd;
import dev.redlock.RedlockListener;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.ReleaseHints;

/** What the protocol wants done. The shell, or the simulator, carries it out in this order. */
public sealed interface Order {

  /** Send the request to each node of the mask; answers go to the exchange. */
  record Send(Exchange exchange, LockRequest request, long mask) implements Order {}

  /** The waiter has the lock. */
  record Grant(Waiter waiter, HeldLease lease) implements Order {}

  /** The waiter has not. */
  record Refuse(Waiter waiter, AcquireReport report) implements Order {}

  /** The waiter found the queue full. */
  record TurnAway(Waiter waiter, int length) implements Order {}

  /** The lease is over; said exactly once for each. */
  record End(HeldLease lease, LeaseEnd end) implements Order {}

  /** Something that somebody waits for is done, or could not be done. */
  record Settle(Ticket ticket, Outcome outcome) implements Order {}

  /** The names may be free now: tell other locks of this process, and other processes. */
  record Announce(HeldLease lease, ReleaseHints.Reason reason) implements Order {}

  /** A caller joined the queue, which has this length now. */
  record Queued(int length) implements Order {}

  /** The head of the queue wakes up. */
  record Woken(RedlockListener.WakeUp cause) implements Order {}

  /** A question is put to all nodes, or to the door alone. */
  record Attempted(boolean doorOnly) implements Order {}

  /** An extension succeeded, and gave the lease back to this many nodes. */
  record Extended(HeldLease lease, int repaired) implements Order {}

  /** An extension got no quorum. */
  record ExtendFailed(HeldLease lease, long remainingNanos) implements Order {}

  /** Identifies who waits for an extension, a release or a survey; made by the shell. */
  interface Ticket {}

  /** How it went: done when the report is null. */
  record Outcome(
      @org.jspecify.annotations.Nullable AcquireReport failure,
      @org.jspecify.annotations.Nullable LeaseEnd ended) {
    static final Outcome DONE = new Outcome(null, null);

    static Outcome failed(AcquireReport report) {
      return new Outcome(report, null);
    }

    static Outcome over(LeaseEnd end) {
      return new Outcome(null, end);
    }
  }
}
