package dev.redlock.internal;

import com.google.common.util.concurrent.MoreExecutors;
import dev.redlock.AcquireReport;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.internal.protocol.Order;
import dev.redlock.spi.LockKeys;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Tells the listeners, one event after another, on the callback executor. */
final class Events {
  private final List<RedlockListener> listeners;
  private final Executor inOrder;
  private final Logger log;

  Events(List<RedlockListener> listeners, Executor callbacks, Logger log) {
    this.listeners = List.copyOf(listeners);
    inOrder = MoreExecutors.newSequentialExecutor(callbacks);
    this.log = log;
  }

  private void tell(Consumer<RedlockListener> event) {
    if (listeners.isEmpty()) {
      return;
    }
    inOrder.execute(
        () -> {
          for (RedlockListener listener : listeners) {
            try {
              event.accept(listener);
            } catch (RuntimeException e) {
              log.warn("a listener failed", e);
            }
          }
        });
  }

  void acquired(PendingAcquire waiter, Lease lease) {
    if (listeners.isEmpty()) {
      return;
    }
    DefaultLease handle = (DefaultLease) lease;
    Duration waited =
        Duration.ofNanos(handle.core().client().time().nanos() - waiter.submittedNanos());
    LeaseCore core = handle.core(); // Not the user's object: it must be able to become unreachable.
    tell(l -> l.onAcquired(new DefaultLease(core), waited));
  }

  void refused(AcquireReport report) {
    tell(l -> l.onRefused(report));
  }

  void turnedAway(LockKeys keys, int length) {
    tell(l -> l.onTurnedAway(keys.names(), length));
  }

  void ended(LeaseCore core, LeaseEnd how) {
    tell(l -> l.onEnded(new DefaultLease(core), how));
  }

  void node(Redlock.NodeState node) {
    tell(l -> l.onNode(node));
  }

  void observe(LockKeys keys, Order order, @Nullable LeaseCore held) {
    if (listeners.isEmpty()) {
      return;
    }
    if (order instanceof Order.Queued queued) {
      tell(l -> l.onQueued(keys.names(), queued.length()));
    } else if (order instanceof Order.Woken woken) {
      tell(l -> l.onWakeUp(keys.names(), woken.cause()));
    } else if (order instanceof Order.Attempted attempted) {
      tell(l -> l.onAttempt(keys.names(), attempted.doorOnly()));
    } else if (held != null && order instanceof Order.Extended extended) {
      tell(l -> l.onExtended(new DefaultLease(held), extended.repaired()));
    } else if (held != null && order instanceof Order.ExtendFailed failed) {
      tell(
          l -> l.onExtendFailed(new DefaultLease(held), Duration.ofNanos(failed.remainingNanos())));
    }
  }
}
