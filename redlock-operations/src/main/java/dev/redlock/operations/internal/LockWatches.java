package dev.redlock.operations.internal;

import dev.redlock.spi.LockKeys;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** The subscriptions of a client, by lock key. Safe from any thread. */
final class LockWatches {
  private final Map<String, List<LockWatch>> byKey = new ConcurrentHashMap<>();

  void add(String lockKey, LockWatch watch) {
    byKey.compute(
        lockKey,
        (key, known) -> {
          List<LockWatch> all = known == null ? new CopyOnWriteArrayList<>() : known;
          all.add(watch);
          return all;
        });
  }

  /** Returns whether it was the last of this lock. */
  boolean remove(String lockKey, LockWatch watch) {
    return byKey.computeIfPresent(
            lockKey,
            (key, known) -> {
              known.remove(watch);
              return known.isEmpty() ? null : known;
            })
        == null;
  }

  /** A node, or a carrier of hints, reports that this key has changed; or this client did it. */
  void changed(String key) {
    if (!byKey.isEmpty()) {
      byKey.getOrDefault(LockKeys.lockKeyOf(key), List.of()).forEach(LockWatch::onChange);
    }
  }

  void allChanged() {
    byKey.values().forEach(all -> all.forEach(LockWatch::onChange));
  }

  void clientClosed() {
    byKey.values().forEach(all -> all.forEach(LockWatch::clientClosed));
  }
}
