package dev.redlock.harness.model;

import dev.redlock.harness.model.NodeModel.Invalidations;
import dev.redlock.spi.LockRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The queues of one node, and the keys that tell processes of their turn: what the scripts do with
 * a sorted set, wake keys and watch keys. A queue is ordered by arrival, then by name.
 */
final class QueueModel {
  static final long WAKE_LIFE_MILLIS = 60_000;

  /** Among the signs of life: until when no release wakes the last of the queue. */
  private static final String LAST_WOKEN = "";

  private static final long LAST_WOKEN_MILLIS = 250;

  private final Invalidations invalidations;
  private final Map<String, SortedSet> queues = new TreeMap<>();
  private final Map<String, TurnKey> turnKeys = new TreeMap<>();

  /** By queue: until when each process counts as alive. */
  private final Map<String, SortedSet> signs = new TreeMap<>();

  /** Arrivals in microseconds, or ends of life in milliseconds, by process. */
  private static final class SortedSet {
    final Map<String, Long> scores = new TreeMap<>();
    long expiresMillis;

    boolean isGone(long nowMillis) {
      return nowMillis > expiresMillis || scores.isEmpty();
    }

    Stream<String> inOrder() {
      return scores.entrySet().stream().sorted(Map.Entry.comparingByValue()).map(Map.Entry::getKey);
    }
  }

  /** A wake key or a watch key. */
  private static final class TurnKey {
    boolean stored;

    /** When the process was woken; in a watch key, its patience. */
    long micros;

    long expiresMillis;
    boolean read;
    long reader;

    void store(long value, long untilMillis) {
      stored = true;
      micros = value;
      expiresMillis = untilMillis;
    }
  }

  QueueModel(Invalidations invalidations) {
    this.invalidations = invalidations;
  }

  /** The process with the earliest arrival, or null. */
  @Nullable String first(String queueKey, long nowMillis) {
    return place(queueKey, 0, nowMillis);
  }

  /** The process at this place, or null. */
  @Nullable String place(String queueKey, int index, long nowMillis) {
    SortedSet queue = find(queues, queueKey, nowMillis);
    return queue == null ? null : queue.inOrder().skip(index).findFirst().orElse(null);
  }

  long arrival(String queueKey, String member) {
    SortedSet queue = queues.get(queueKey);
    return queue == null ? 0 : queue.scores.getOrDefault(member, 0L);
  }

  /** How many processes come before this one, or −1 if it is not queued. */
  int rank(String queueKey, String member, long nowMillis) {
    SortedSet queue = find(queues, queueKey, nowMillis);
    return queue == null ? -1 : queue.inOrder().toList().indexOf(member);
  }

  int size(String queueKey, long nowMillis) {
    SortedSet queue = find(queues, queueKey, nowMillis);
    return queue == null ? 0 : queue.scores.size();
  }

  private static @Nullable SortedSet find(Map<String, SortedSet> sets, String key, long nowMillis) {
    SortedSet set = sets.get(key);
    if (set != null && set.isGone(nowMillis)) {
      sets.remove(key);
      return null;
    }
    return set;
  }

  private static SortedSet findOrMake(Map<String, SortedSet> sets, String key, long nowMillis) {
    find(sets, key, nowMillis);
    return sets.computeIfAbsent(key, absent -> new SortedSet());
  }

  /**
   * Enters the queue, or changes the arrival if it is given; returns how many come before. An
   * arrival behind the node's clock is not stored: the clock was set back.
   */
  int enter(String queueKey, LockRequest.QueueEntry entry, long lifeMillis, long now) {
    SortedSet alive = findOrMake(signs, queueKey, now / 1000);
    if (alive.scores.put(entry.process(), now / 1000 + entry.lifeMillis()) == null) {
      alive.expiresMillis = now / 1000 + lifeMillis;
    }
    sweep(queueKey, now);
    SortedSet queue = findOrMake(queues, queueKey, now / 1000);
    Long stored = queue.scores.get(entry.process());
    if (entry.arrivalMicros() > 0 && entry.arrivalMicros() <= now) {
      queue.scores.put(entry.process(), entry.arrivalMicros());
    } else if (stored == null || (entry.arrivalMicros() > now && stored > now)) {
      queue.scores.put(entry.process(), now);
    }
    queue.expiresMillis = now / 1000 + lifeMillis;
    return rank(queueKey, entry.process(), now / 1000);
  }

  /** Removes the processes that have not asked for too long; returns how many. */
  int sweep(String queueKey, long now) {
    SortedSet s = find(signs, queueKey, now / 1000);
    if (s == null) {
      return 0;
    }
    List<String> gone = new ArrayList<>();
    s.scores.forEach(
        (member, until) -> {
          if (until * 1000 < now) {
            gone.add(member);
          }
        });
    int removed = 0;
    for (String member : gone) {
      s.scores.remove(member);
      removed += leave(queueKey, member) ? 1 : 0;
    }
    return removed;
  }

  /** Whether a release may wake the last of the queue; then no other does for a while. */
  boolean mayWakeLast(String queueKey, long nowMillis) {
    SortedSet s = find(signs, queueKey, nowMillis);
    if (s == null || s.inOrder().findFirst().filter(LAST_WOKEN::equals).isPresent()) {
      return false;
    }
    s.scores.put(LAST_WOKEN, nowMillis + LAST_WOKEN_MILLIS);
    return true;
  }

  /** Removes the process; false if it was not queued. */
  boolean leave(String queueKey, String member) {
    SortedSet queue = queues.get(queueKey);
    return queue != null && queue.scores.remove(member) != null;
  }

  // Turns.

  /** When the process was woken, or −1. */
  long woken(String wakeKey, long nowMillis) {
    TurnKey key = turnKeys.get(wakeKey);
    return key == null || !key.stored || nowMillis > key.expiresMillis ? -1 : key.micros;
  }

  /** Writes the key, and so sends an invalidation to the session that has read it. */
  void write(String turnKey, long now, long writer) {
    TurnKey key = turnKeys.computeIfAbsent(turnKey, k -> new TurnKey());
    key.store(now, now / 1000 + WAKE_LIFE_MILLIS);
    changed(turnKey, key, writer);
  }

  private void changed(String name, TurnKey key, long writer) {
    boolean read = key.read;
    key.read = false;
    if (read && key.reader != writer) {
      invalidations.invalidate(key.reader, name);
    }
  }

  /** Changes the life of a wake key and not its value, and so sends an invalidation. */
  void touch(String wakeKey, long nowMillis, long writer) {
    TurnKey key = turnKeys.get(wakeKey);
    if (key == null) {
      return;
    }
    key.expiresMillis = nowMillis + WAKE_LIFE_MILLIS;
    changed(wakeKey, key, writer);
  }

  /** The process leaves its patience in its watch key. */
  void putPatience(String watchKey, long micros, long expiresMillis) {
    TurnKey key = new TurnKey();
    key.store(micros, expiresMillis);
    turnKeys.put(watchKey, key);
  }

  /** The patience of the process, or 0. */
  long patience(String watchKey, long nowMillis) {
    return Math.max(0, woken(watchKey, nowMillis));
  }

  /** Gives the key a new life, and so sends an invalidation as {@link #write} does. */
  void prolong(String watchKey, long nowMillis, long lifeMillis, long writer) {
    TurnKey key = turnKeys.get(watchKey);
    if (key == null || !key.stored || nowMillis > key.expiresMillis) {
      return;
    }
    key.expiresMillis = nowMillis + lifeMillis;
    changed(watchKey, key, writer);
  }

  void delete(String turnKey) {
    turnKeys.remove(turnKey);
  }

  /** Deletes the key, and so sends an invalidation as {@link #write} does. */
  void delete(String turnKey, long writer) {
    TurnKey key = turnKeys.remove(turnKey);
    if (key != null) {
      changed(turnKey, key, writer);
    }
  }

  /** The session has read the key: it gets an invalidation when the key is written. */
  void read(String turnKey, long session) {
    TurnKey key = turnKeys.computeIfAbsent(turnKey, k -> new TurnKey());
    key.read = true;
    key.reader = session;
  }

  // What administrators, crashes and the network do.

  void forgetSession(long session) {
    turnKeys.values().forEach(key -> key.read &= key.reader != session);
  }

  void forgetSessions() {
    turnKeys.values().forEach(key -> key.read = false);
  }

  void wipe() {
    queues.clear();
    signs.clear();
    turnKeys.clear();
  }

  /** Also sends the invalidations of the keys that have expired. */
  void expireAll(long nowMillis) {
    turnKeys.forEach(
        (name, key) -> {
          if (key.stored && nowMillis > key.expiresMillis) {
            key.stored = false;
            changed(name, key, Keyspace.NO_WRITER);
          }
        });
    queues.values().removeIf(queue -> queue.isGone(nowMillis));
    signs.values().removeIf(ofQueue -> ofQueue.isGone(nowMillis));
    turnKeys.values().removeIf(k -> !k.read && (!k.stored || nowMillis > k.expiresMillis));
  }

  void copyTo(QueueModel copy) {
    copy(queues, copy.queues);
    copy(signs, copy.signs);
    turnKeys.forEach(
        (name, key) -> {
          if (key.stored) {
            copy.putPatience(name, key.micros, key.expiresMillis);
          }
        });
  }

  private static void copy(Map<String, SortedSet> from, Map<String, SortedSet> to) {
    from.forEach(
        (key, set) -> {
          SortedSet copy = new SortedSet();
          copy.scores.putAll(set.scores);
          copy.expiresMillis = set.expiresMillis;
          to.put(key, copy);
        });
  }

  /** When the signs of life in the queue end. */
  Collection<Long> signs(String queueKey) {
    SortedSet s = signs.get(queueKey);
    return s == null ? List.of() : s.scores.values();
  }

  long expiresMillis(String queueKey) {
    SortedSet queue = queues.get(queueKey);
    return queue == null || queue.scores.isEmpty() ? 0 : queue.expiresMillis;
  }
}
