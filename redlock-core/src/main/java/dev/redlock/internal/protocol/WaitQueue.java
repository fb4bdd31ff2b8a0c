package dev.redlock.internal.protocol;

import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * First come, first served, with deadlines. A linked list through the waiters, so that one leaves
 * from anywhere at no cost, and a tree of their deadlines.
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

  /** Takes it out, wherever it stands; false if it was not in. */
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

  /** Somebody whose deadline has come, or null. */
  @Nullable Waiter overdue(long nowNanos) {
    if (deadlines.isEmpty()) {
      return null;
    }
    Waiter w = deadlines.first();
    return w.deadlineNanos - nowNanos <= 0 ? w : null;
  }

  /** When the first of those who wait leaves; somebody has to. */
  long nearestDeadline() {
    return deadlines.first().deadlineNanos;
  }

  /** The nearest deadline, if anybody waits. */
  void deadlines(NextWake wake) {
    if (length > 0) {
      wake.at(deadlines.first().deadlineNanos);
    }
  }
}
