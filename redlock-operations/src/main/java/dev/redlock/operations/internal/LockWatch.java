package dev.redlock.operations.internal;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;
import com.google.common.util.concurrent.MoreExecutors;
import dev.redlock.operations.LockInspection;
import dev.redlock.operations.LockInspection.NodeView;
import dev.redlock.operations.LockState;
import dev.redlock.operations.LockState.Status;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.Time;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * One subscription to the state of a lock. It inspects the lock at first, after each invalidation,
 * after each change by this client, and once per poll interval; an inspection makes the nodes send
 * the next invalidation. It keeps the newest state only: a slow subscriber misses states in
 * between, and never the last one.
 */
final class LockWatch implements Flow.Subscription {
  /** The shortest time between two inspections: a busy lock changes a thousand times a second. */
  private static final long MIN_GAP_NANOS = 20_000_000;

  private final ClientOperations side;
  private final Time time;
  private final LockKeys keys;
  private final Flow.Subscriber<? super LockState> subscriber;
  private final long pollNanos;

  /** Runs what touches the subscriber, one after another. */
  private final Executor inOrder;

  // Guarded by this.
  private long demand;
  private @Nullable LockState newest;
  private @Nullable LockState delivered;
  private boolean inspecting;
  private boolean changed;
  private boolean ended;

  /** Whether a delivery waits for its turn: one is enough, however slow the subscriber is. */
  private boolean deliveryWaits;

  private long notBeforeNanos;
  private Time.Cancellable timer = () -> {};

  LockWatch(
      ClientOperations side,
      LockKeys keys,
      long pollNanos,
      Flow.Subscriber<? super LockState> subscriber) {
    this.side = side;
    time = side.client.settings().time();
    this.keys = keys;
    this.pollNanos = pollNanos;
    this.subscriber = subscriber;
    inOrder = MoreExecutors.newSequentialExecutor(side.client.callbacks());
    notBeforeNanos = time.nanos();
  }

  void start() {
    side.watches.add(keys.lockKey(0), this);
    tell(() -> subscriber.onSubscribe(this));
    onChange();
  }

  /** The lock may have changed. Called on any thread, also in the actor of the lock. */
  void onChange() {
    long wait;
    synchronized (this) {
      if (ended) {
        return;
      }
      if (inspecting) {
        changed = true;
        return;
      }
      inspecting = true;
      wait = notBeforeNanos - time.nanos();
      timer.cancel();
    }
    if (wait > 0) {
      time.schedule(this::inspect, wait);
    } else {
      inspect();
    }
  }

  private void inspect() {
    synchronized (this) {
      if (ended) {
        return;
      }
      changed = false;
    }
    side.inspector.inspect(keys, true).whenComplete((seen, failure) -> seen(seen));
  }

  private void seen(@Nullable LockInspection inspection) {
    boolean again;
    boolean over;
    synchronized (this) {
      inspecting = false;
      notBeforeNanos = time.nanos() + MIN_GAP_NANOS;
      over = ended;
      if (inspection != null) {
        newest = state(inspection);
      }
      again = changed && !over;
      if (!again && !over) {
        timer = time.schedule(this::onChange, pollNanos);
      }
    }
    if (over) {
      forget(); // This inspection may have been sent behind what the end has sent.
      return;
    }
    deliverSoon();
    if (again) {
      onChange();
    }
  }

  private static LockState state(LockInspection inspection) {
    Multiset<String> votes = HashMultiset.create();
    int free = 0;
    long fence = 0;
    for (NodeView view : inspection.nodes()) {
      String holder = view.holder();
      fence = Math.max(fence, view.highestTokenSeen());
      if (holder != null) {
        votes.add(holder);
      } else if (view.error() == null) {
        free++;
      }
    }
    for (NodeView view : inspection.nodes()) {
      String holder = view.holder();
      if (holder != null && votes.count(holder) >= inspection.quorum()) {
        return new LockState(inspection.name(), Status.HELD, holder, view.holderLabel(), fence);
      }
    }
    Status status = free >= inspection.quorum() ? Status.FREE : Status.UNKNOWN;
    return new LockState(inspection.name(), status, null, null, fence);
  }

  private void deliverSoon() {
    synchronized (this) {
      if (deliveryWaits || ended) {
        return;
      }
      deliveryWaits = true;
    }
    tell(this::deliver);
  }

  /** Delivers the newest state, if it is another one and the subscriber wants it. */
  private void deliver() {
    LockState next;
    synchronized (this) {
      deliveryWaits = false;
      next = newest;
      if (ended || demand == 0 || next == null || next.equals(delivered)) {
        return;
      }
      demand--;
      delivered = next;
    }
    subscriber.onNext(next);
  }

  /** Sends the subscriber a signal, after those before. What it throws ends the subscription. */
  private void tell(Runnable signal) {
    inOrder.execute(
        () -> {
          try {
            signal.run();
          } catch (Throwable e) {
            cancel();
            side.client.report("the subscriber " + subscriber.getClass().getName(), "", e);
          }
        });
  }

  @Override
  public void request(long n) {
    if (n <= 0) {
      if (end()) {
        RuntimeException e = new IllegalArgumentException("request of " + n + " must be positive");
        tell(() -> subscriber.onError(e));
      }
      return;
    }
    synchronized (this) {
      demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
    }
    deliverSoon();
  }

  @Override
  public void cancel() {
    end();
  }

  /** The client is closed. */
  void clientClosed() {
    if (end()) {
      tell(subscriber::onComplete);
    }
  }

  private boolean end() {
    synchronized (this) {
      if (ended) {
        return false;
      }
      ended = true;
      timer.cancel();
    }
    forget();
    return true;
  }

  private void forget() {
    if (side.watches.remove(keys.lockKey(0), this)) {
      side.client.stopListening(keys);
    }
  }
}
