package dev.redlock.cluster.internal;

import dev.redlock.spi.LockKeys;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The locks that callers of this process wait for. Every acquire of a free lock waits for one round
 * trip, so the client subscribes only after a master refused a caller.
 */
final class Interests {
  private final HintCarrier hints;

  /**
   * Lock key to the number of local queues that wait for it. Written by lock queues, read by I/O
   * threads.
   */
  private final Map<String, Integer> waiting = new ConcurrentHashMap<>();

  Interests(HintCarrier hints) {
    this.hints = hints;
  }

  void waiting(LockKeys keys) {
    for (int i = 0; i < keys.size(); i++) {
      String key = keys.lockKey(i);
      waiting.merge(key, 1, Integer::sum);
      hints.revive(key);
    }
  }

  void idle(LockKeys keys) {
    for (int i = 0; i < keys.size(); i++) {
      String key = keys.lockKey(i);
      if (waiting.computeIfPresent(key, (k, count) -> count == 1 ? null : count - 1) == null) {
        hints.forget(key);
      }
    }
  }

  boolean isWaitedFor(LockKeys keys) {
    return waiting.containsKey(keys.lockKey(0));
  }

  /**
   * A master refused an acquire, and the caller's lock machine has received the reply.
   *
   * @param waited whether {@link #waiting} was called before the refusal. If so, a caller that
   *     continues to wait is still counted. If not, the reply was faster than that call, which is
   *     still to come
   */
  void refused(LockKeys keys, int slot, long nodeMicros, boolean waited) {
    for (int i = 0; i < keys.size(); i++) {
      String key = keys.lockKey(i);
      if (waited && !waiting.containsKey(key)) {
        continue; // It was a single try, or the caller gave up.
      }
      hints.watch(key, slot, nodeMicros);
      waiting.compute(
          key,
          (k, count) -> {
            if (count == null) {
              hints.forget(k);
            }
            return count;
          });
    }
  }
}
