package dev.redlock.internal;

import dev.redlock.spi.Time;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Holds back timers that fire late until what has arrived from the nodes is handled.
 *
 * <p>A process that was paused (garbage collection, a busy machine, a stopped container) wakes with
 * all its timers due, and with the answers to its requests unread in its sockets. Timers that were
 * handled first would take nodes for silent that have answered in time: a pause of 100 ms ended 253
 * of 256 releases with "2 of 5 answered". So a late timer waits for {@link #GRACE_NANOS}, in which
 * nodes answer what could not be sent before, and then until each node's connection has been read
 * once more. Not for longer than {@link #LIMIT_NANOS}: the end of a lease must be told as well.
 *
 * <p>A timer that fires in time meanwhile waits for the same reading, for it may have been set
 * before the pause. It does not begin another one: under load timers fire all the time, and the
 * readings would never end. A pause in the middle of a reading makes its own timers late. The
 * reading then begins anew, once.
 */
final class LateTimers {
  /** Later than this a timer is late; on a busy machine each is by less. */
  private static final long LATE_NANOS = 2_000_000;

  private static final long GRACE_NANOS = 10_000_000;
  private static final long LIMIT_NANOS = 50_000_000;

  private final NodeSet nodes;
  private final Time time;
  private final Logger log;

  // Guarded by this.
  private @Nullable Reading current;
  private List<Runnable> forNext = new ArrayList<>();

  /** Written under this, read by timers: one that misses it is just not delayed. */
  private volatile boolean reading;

  LateTimers(NodeSet nodes, Time time, Logger log) {
    this.nodes = nodes;
    this.time = time;
    this.log = log;
  }

  /** Runs the task of a timer that was due at this instant: now, or soon if it is late. */
  void fired(long dueNanos, Runnable task) {
    if (time.nanos() - dueNanos >= LATE_NANOS) {
      afterArrivals(task);
    } else if (!reading || !join(task)) {
      task.run();
    }
  }

  private synchronized boolean join(Runnable task) {
    return current != null && current.tasks.add(task);
  }

  /** Runs the task after the replies that have arrived by now, or after {@link #LIMIT_NANOS}. */
  void afterArrivals(Runnable task) {
    Reading first;
    synchronized (this) {
      forNext.add(task);
      if (current != null) {
        return; // A further reading follows for this task: replies may have arrived meanwhile.
      }
      first = next();
    }
    first.begin();
  }

  /** Called under the lock. */
  private Reading next() {
    Reading next = new Reading(forNext);
    forNext = new ArrayList<>();
    current = next;
    reading = true;
    return next;
  }

  /** One read of all connections, and the timers that wait for it. */
  private final class Reading {
    // Guarded by LateTimers.this.
    private final List<Runnable> tasks;
    private long begunNanos;
    private boolean begunAnew;
    private Time.Cancellable limit = () -> {};

    Reading(List<Runnable> tasks) {
      this.tasks = tasks;
    }

    void begin() {
      long begun = time.nanos();
      synchronized (LateTimers.this) {
        begunNanos = begun;
      }
      Time.Cancellable armed = time.schedule(() -> end(begun), LIMIT_NANOS);
      synchronized (LateTimers.this) {
        limit = armed;
      }
      time.schedule(
          () -> {
            if (!beginsAnew(begun, GRACE_NANOS)) {
              awaitNode(0, begun);
            }
          },
          GRACE_NANOS);
    }

    /** Reads one node after another: nodes share few threads, and all of them are needed. */
    private void awaitNode(int index, long begun) {
      if (index == nodes.count()) {
        end(begun);
        return;
      }
      try {
        nodes.node(index).afterArrivals(() -> awaitNode(index + 1, begun));
      } catch (RuntimeException | Error e) { // A node must not throw; nodes are foreign code too.
        log.error("node {}: afterArrivals failed with an exception", nodes.name(index), e);
        awaitNode(index + 1, begun);
      }
    }

    /** Begins again if the client was paused meanwhile: then this reading has found out nothing. */
    private boolean beginsAnew(long begun, long afterNanos) {
      Time.Cancellable armed;
      synchronized (LateTimers.this) {
        if (current != this || begunNanos != begun) {
          return true; // This reading has begun anew or has ended.
        }
        if (begunAnew || time.nanos() - begun - afterNanos < GRACE_NANOS) {
          return false;
        }
        begunAnew = true;
        armed = limit;
      }
      armed.cancel();
      begin();
      return true;
    }

    private void end(long begun) {
      if (beginsAnew(begun, LIMIT_NANOS)) {
        return;
      }
      Time.Cancellable armed;
      Reading following;
      synchronized (LateTimers.this) {
        if (current != this || begunNanos != begun) {
          return;
        }
        armed = limit;
        current = null;
        reading = false;
        following = forNext.isEmpty() ? null : next();
      }
      armed.cancel();
      for (Runnable task : tasks) { // No timer joins them any more.
        try {
          task.run();
        } catch (RuntimeException | Error e) {
          log.error("a late timer failed with an exception", e);
        }
      }
      if (following != null) {
        following.begin();
      }
    }
  }
}
