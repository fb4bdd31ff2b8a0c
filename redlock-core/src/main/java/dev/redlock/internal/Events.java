package dev.redlock.internal;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.LeaseEnd;
import dev.redlock.RedlockListener;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Calls each listener on the callback executor, one event after another. */
final class Events {
  private final List<ListenerQueue> listeners;
  private final Time time;

  Events(List<RedlockListener> listeners, Executor callbacks, Time time, FailureLog failures) {
    this.listeners =
        listeners.stream()
            .map(l -> new ListenerQueue(l, callbacks, time, failures, ListenerQueue.LIMIT))
            .toList();
    this.time = time;
  }

  /** Timers may not run any more: events are delivered without a pause. */
  void close() {
    listeners.forEach(ListenerQueue::close);
  }

  /** Whether the client has a listener: without one, nothing is counted or allocated for it. */
  boolean hasListeners() {
    return !listeners.isEmpty();
  }

  /** Gives every listener the event, later and on a thread for callbacks. */
  void tell(Consumer<RedlockListener> event) {
    for (int i = 0; i < listeners.size(); i++) {
      listeners.get(i).add(event);
    }
  }

  /** Gives the event to the listeners that are probes of tests. */
  void tellProbes(Consumer<WaitProbe> event) {
    for (ListenerQueue listener : listeners) {
      if (listener.isProbe()) {
        listener.add(l -> event.accept((WaitProbe) l));
      }
    }
  }

  void joined(PendingAcquire caller) {
    if (!listeners.isEmpty()) {
      RedlockListener.Caller told = caller.forListeners();
      tell(l -> l.onWaiterJoined(told));
    }
  }

  void left(PendingAcquire caller, AcquireVerdict verdict, @Nullable AcquireReport report) {
    if (!listeners.isEmpty()) {
      RedlockListener.Caller told = caller.forListeners();
      Duration waited = Duration.ofNanos(time.nanos() - caller.submittedNanos());
      tell(l -> l.onWaiterLeft(told, verdict, waited, report));
    }
  }

  /** Listeners are given handles of their own: the user's must be able to become unreachable. */
  void acquired(PendingAcquire waiter, LeaseCore core) {
    if (!listeners.isEmpty()) {
      Duration waited = Duration.ofNanos(time.nanos() - waiter.submittedNanos());
      tell(l -> l.onAcquired(new DefaultLease(core), waited));
    }
  }

  void ended(LeaseCore core, LeaseEnd how) {
    if (!listeners.isEmpty()) {
      HeldLease lease = core.lease;
      long now = time.nanos();
      Duration held = Duration.ofNanos(Math.max(0, now - lease.grantedNanos()));
      Duration left = Duration.ofNanos(lease.validity().remaining(now, time.wallMillis()));
      tell(l -> l.onEnded(new DefaultLease(core), how, held, left));
    }
  }
}
