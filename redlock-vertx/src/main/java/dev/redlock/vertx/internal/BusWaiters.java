package dev.redlock.vertx.internal;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which clients on the bus wait for which names, as they said last. Any member of the bus can add
 * entries, so the table is bounded, and entries that are not repeated expire.
 *
 * <p>Changed on one event loop only; {@link #contains} may be called by any thread.
 */
final class BusWaiters {
  private static final int MAX_NAMES = 10_000;
  private static final int MAX_WAITERS = 1_000;

  /** Name to the addresses of the waiting clients; the maps inside are confined to the loop. */
  private final Map<String, Map<String, Long>> byName = new ConcurrentHashMap<>();

  /** Whether a client waits for the name: all that an uncontended release asks. */
  boolean contains(String name) {
    return byName.containsKey(name);
  }

  boolean isEmpty() {
    return byName.isEmpty();
  }

  void add(String name, String address, long untilMillis) {
    Map<String, Long> waiters = byName.get(name);
    if (waiters == null) {
      if (byName.size() >= MAX_NAMES) {
        return;
      }
      waiters = new HashMap<>();
      byName.put(name, waiters);
    }
    if (waiters.size() < MAX_WAITERS || waiters.containsKey(address)) {
      waiters.put(address, untilMillis);
    }
  }

  void remove(String name, String address) {
    Map<String, Long> waiters = byName.get(name);
    if (waiters != null) {
      waiters.remove(address);
      if (waiters.isEmpty()) {
        byName.remove(name);
      }
    }
  }

  /** The addresses of the clients that wait for the name. */
  List<String> of(String name) {
    return List.copyOf(byName.getOrDefault(name, Map.of()).keySet());
  }

  void expire(long nowMillis) {
    byName
        .values()
        .removeIf(
            waiters -> {
              waiters.values().removeIf(until -> until - nowMillis <= 0);
              return waiters.isEmpty();
            });
  }
}
