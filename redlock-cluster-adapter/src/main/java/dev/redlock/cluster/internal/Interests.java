package dev.redlock.cluster.internal;

import dev.redlock.spi.LockKeys;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which locks are waited for here. Every acquire of a free lock waits for a round trip, so nothing
 * is asked for before somebody was refused.
 */
final class Interests {
  private final Notices notices;

  /** Lock key to how many queues wait for it. Written by lock queues, read by I/O threads. */
  private final Map<String, Integer> waiting = new ConcurrentHashMap<>();

  Interests(Notices notices) {
    this.notices = notices;
  }

  void waiting(LockKeys keys) {
    for (int i = 0; i < keys.size(); i++) {
      String key = keys.lockKey(i);
      waiting.merge(key, 1, Integer::sum);
      notices.revive(key);
    }
  }

  void idle(LockKeys keys) {
    for (int i = 0; i < keys.size(); i++) {
      String key = keys.lockKey(i);
      if (waiting.computeIfPresent(key, (k, count) -> count == 1 ? null : count - 1) == null) {
        notices.forget(key);
      }
    }
  }

  boolean isWaitedFor(LockKeys keys) {
    return waiting.containsKey(keys.lockKey(0));
  }

  /**
   * An acquire was refused, and whoever asked has been told.
   *
   * @param waited whether anybody waited before that: then nobody who goes on waiting has left. If
   *     not, the answer was faster than the news that somebody waits, which is still to come
   */
  void refused(LockKeys keys, int slot, long nodeMicros, boolean waited) {
    for (int i = 0; i < keys.size(); i++) {
      String key = keys.lockKey(i);
      if (waited && !waiting.containsKey(key)) {
        continue; // Tried once only, or gave up.
      }
      notices.watch(key, slot, nodeMicros);
      waiting.compute(
          key,
          (k, count) -> {
            if (count == null) {
              notices.forget(k);
            }
            return count;
          });
    }
  }
}
