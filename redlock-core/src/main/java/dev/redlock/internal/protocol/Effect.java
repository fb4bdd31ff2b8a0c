package dev.redlock.internal.protocol;

import dev.redlock.AcquireReport;
import dev.redlock.LeaseEnd;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.ReleaseHints;
import org.jspecify.annotations.Nullable;

/** What the protocol wants done. The shell, or the simulator, carries effects out in order. */
public sealed interface Effect {

  /** Nothing is to be done; listeners may want to know it. */
  sealed interface Notice extends Effect {}

  /** Send the request to each node of the mask; replies go to the exchange. */
  record Send(Exchange exchange, LockRequest request, long mask) implements Effect {}

  /** The waiter has the lock. */
  record Granted(Waiter waiter, HeldLease lease) implements Effect {}

  /** The waiter does not get the lock. */
  record Refuse(Waiter waiter, AcquireReport report) implements Effect {}

  /** The lease has ended; exactly once for each lease. */
  record End(HeldLease lease, LeaseEnd end) implements Effect {}

  /** Another lock of this client may begin an extension that it waited for. */
  record Admit(LockKeys keys) implements Effect {}

  /** An extension or a release is over. */
  record Settle(Ack ack, Result result) implements Effect {}

  /** The names may be free now: hint other locks of this process, and other processes. */
  record ReleaseHint(HeldLease lease, ReleaseHints.Reason reason) implements Effect {}

  /** The head of the queue wakes up. */
  record Woken(WakeUp cause) implements Notice {}

  /** A round begins; or the home node alone is asked to queue this process. */
  record Attempted(boolean homeOnly) implements Notice {}

  /** An extension succeeded; this many nodes had lost the lease and store it again. */
  record Extended(HeldLease lease, int repaired) implements Notice {}

  /** An extension got no quorum. */
  record ExtendFailed(HeldLease lease, long remainingNanos) implements Notice {}

  /** Identifies what waits for a result: a caller of the shell. */
  interface Ack {}

  /** Success if both are null; else the failure, or how the lease ended before. */
  record Result(@Nullable AcquireReport failure, @Nullable LeaseEnd ended) {
    static final Result DONE = new Result(null, null);
  }
}
