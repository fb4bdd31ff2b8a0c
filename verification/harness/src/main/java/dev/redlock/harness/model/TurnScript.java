package dev.redlock.harness.model;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import org.jspecify.annotations.Nullable;

/** What {@code turn.lua} does: finds out whether it is the turn of another process. */
final class TurnScript {
  /** How long the first of a queue may be silent at its turn, at most. */
  private static final long MAX_PATIENCE_MICROS = 1_000_000;

  /** The patience of a process that has no place in the queue. */
  private static final long SINGLE_TRY_PATIENCE_MICROS = 400_000;

  /** How many processes a script wakes for each one that was silent. */
  private static final int SPREAD = 4;

  /** The same for a single try, whose patience is long, and the limit of both. */
  private static final int MOST_WOKEN = 1_000;

  private final LockKeys keys;
  private final String queueKey;
  private final LockRequest.@Nullable QueueEntry entry;
  private final long arrival;
  private final Call call;
  private final QueueModel queues;
  private final long nowMillis;
  private boolean changed;

  /**
   * @param entry the place of this process; null if it is not queued
   * @param arrival processes that came later do not count; 0 if all count
   */
  TurnScript(LockKeys keys, LockRequest.@Nullable QueueEntry entry, long arrival, Call call) {
    this.keys = keys;
    this.entry = entry;
    this.arrival = arrival;
    this.call = call;
    queues = call.queues();
    queueKey = keys.queueKey();
    nowMillis = call.nowMillis();
  }

  /** For how long the turn of another process may last; −1 if there is none. */
  long leftMicros() {
    String first = queues.first(queueKey, nowMillis);
    if (first == null || !isBefore(first) || isElsewhere()) {
      return -1;
    }
    changed = queues.sweep(queueKey, call.now()) > 0;
    int silent = 0;
    for (first = queues.first(queueKey, nowMillis);
        first != null && isBefore(first);
        first = queues.first(queueKey, nowMillis)) {
      long limit = Math.max(patience(), patienceOf(first));
      long woken = queues.woken(keys.wakeKey(first), nowMillis);
      if (woken < 0) {
        wake(
            silent == 0 ? 1 : Math.min(MOST_WOKEN, silent * (entry == null ? MOST_WOKEN : SPREAD)));
        return limit;
      }
      long since = Math.abs(call.now() - woken);
      if (since < limit) {
        return limit - since;
      }
      queues.leave(queueKey, first);
      changed = true;
      silent++;
    }
    return -1;
  }

  /** Whether processes were removed or woken. */
  boolean hasChangedQueue() {
    return changed;
  }

  private boolean isBefore(String first) {
    return (entry == null || !first.equals(entry.process()))
        && (arrival == 0 || queues.arrival(queueKey, first) < arrival);
  }

  /** Whether this process has its turn at its home node, and this is not that node. */
  private boolean isElsewhere() {
    return entry != null && entry.atTurn() && queues.rank(queueKey, entry.process(), nowMillis) < 0;
  }

  private long patience() {
    return entry == null ? SINGLE_TRY_PATIENCE_MICROS : entry.patienceMicros();
  }

  private long patienceOf(String first) {
    return Math.min(MAX_PATIENCE_MICROS, queues.patience(keys.watchKey(first), nowMillis));
  }

  private void wake(int count) {
    changed = true;
    for (int i = 0; i < count; i++) {
      String member = queues.place(queueKey, i, nowMillis);
      if (member == null || (entry != null && member.equals(entry.process()))) {
        return;
      }
      if (queues.woken(keys.wakeKey(member), nowMillis) < 0) {
        queues.write(keys.wakeKey(member), call.now(), call.session());
      }
    }
  }
}
