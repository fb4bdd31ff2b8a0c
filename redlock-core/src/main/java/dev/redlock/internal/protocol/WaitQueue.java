package dev.redlock.internal.protocol;

import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The waiters of this process, first come, first served, with their deadlines. It is a linked list
 * through the waiters, from which any of them leaves in constant time, and a tree of deadlines.
 */
final class WaitQueue {
  private @Nullable Waiter first;
  private @Nullable Waiter last;
  private int length;
  private long sequence;
  private final TreeSet<Waiter> deadlines =
      new TreeSet<>(
          (a, b) -> {
            int byTime = Long.signum(a.deadlineNanos - b.deadlineNanos);
            return byTime != 0 ? byTime : Long.compare(a.sequence, b.sequence);
          });

  void add(Waiter w) {
    w.queued = true;
    w.sequence = sequence++;
    w.before = last;
    if (last == null) {
      first = w;
    } else {
      last.after = w;
    }
    last = w;
    length++;
    deadlines.add(w);
  }

  /** Removes the waiter; false if it was not queued. */
  boolean remove(Waiter w) {
    if (!w.queued) {
      return false;
    }
    w.queued = false;
    deadlines.remove(w);
    Waiter before = w.before;
    Waiter after = w.after;
    if (before == null) {
      first = after;
    } else {
      before.after = after;
    }
    if (after == null) {
      last = before;
    } else {
      after.before = before;
    }
    w.before = null;
    w.after = null;
    length--;
    return true;
  }

  @Nullable Waiter head() {
    return first;
  }

  int length() {
    return length;
  }

  /** A waiter whose deadline has come, or null. */
  @Nullable Waiter overdue(long nowNanos) {
    if (deadlines.isEmpty()) {
      return null;
    }
    Waiter w = deadlines.first();
    return w.deadlineNanos - nowNanos <= 0 ? w : null;
  }

  /** The earliest deadline; the queue must not be empty. */
  long nearestDeadline() {
    return deadlines.first().deadlineNanos;
  }

  /** Wakes at the earliest deadline, unless the queue is empty. */
  void deadlines(NextWake wake) {
    if (length > 0) {
      wake.at(deadlines.first().deadlineNanos);
    }
  }
}
