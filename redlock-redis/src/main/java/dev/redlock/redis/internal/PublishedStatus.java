package dev.redlock.redis.internal;

import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.Time;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The status of a node as other threads see it. Owns the {@link ConnectionStates} and the timer
 * that ends a quarantine; reports each new status to the listener and to the operator.
 */
public final class PublishedStatus {
  private final Time time;
  private final GuardedListener listener;
  private final OperatorLog operator;

  // Guarded by this.
  private final ConnectionStates states;
  private Time.@Nullable Cancellable quarantineEnd;
  private boolean closed;

  /** Written under this object's monitor, read by any thread. */
  private volatile NodeStatus published;

  public PublishedStatus(
      ConnectionStates states, Time time, GuardedListener listener, OperatorLog operator) {
    this.states = states;
    this.time = time;
    this.listener = listener;
    this.operator = operator;
    published = states.status();
  }

  public NodeStatus current() {
    return published;
  }

  /** The connection number; {@link #current} may still have an earlier one. */
  public synchronized long connection() {
    return states.status().connection();
  }

  /** Applies an event without publishing it. */
  public synchronized void apply(Consumer<ConnectionStates> event) {
    event.accept(states);
  }

  /** Applies an event, or asks a question, without publishing. */
  public synchronized boolean test(Predicate<ConnectionStates> event) {
    return event.test(states);
  }

  public synchronized long markerSince() {
    return states.markerSince();
  }

  /** Reports the status if it is a new one. Called without locks. */
  public void publish() {
    NodeStatus before;
    NodeStatus now;
    long leftNanos;
    synchronized (this) {
      before = published;
      now = states.status();
      if (before.equals(now)) {
        return;
      }
      published = now;
      cancelTimer();
      leftNanos = Math.max(0, now.untilNanos() - time.nanos());
      if (now.state() == State.QUARANTINED && now.untilNanos() != 0) {
        quarantineEnd = time.schedule(this::tick, leftNanos);
      }
      if (closed) {
        return;
      }
    }
    operator.onStatus(before, now, leftNanos);
    listener.onStatus();
    if (before.state() == State.QUARANTINED && now.state() == State.VOTING) {
      listener.onAllInvalidated();
    }
  }

  /** Lets the states know that time has passed. */
  public void tick() {
    apply(states -> states.onTick(time.nanos()));
    publish();
  }

  /** Reports nothing from now on. */
  public void close() {
    synchronized (this) {
      closed = true;
      states.onLost("closed", time.nanos());
      cancelTimer();
    }
    publish();
  }

  private void cancelTimer() {
    if (quarantineEnd != null) {
      quarantineEnd.cancel();
      quarantineEnd = null;
    }
  }
}
