package dev.redlock.testkit.model;

import dev.redlock.spi.LockRequest;
import dev.redlock.testkit.model.NodeModel.Invalidations;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
  private final Map<String, Queue> queues = new TreeMap<>();
  private final Map<String, TurnKey> turnKeys = new TreeMap<>();

  /** By queue: until when each process counts as alive. */
  private final Map<String, Signs> signs = new TreeMap<>();

  private static final class Queue {
    final Map<String, Long> arrivals = new TreeMap<>();
    long expiresMillis;
  }

  private static final class Signs {
    final Map<String, Long> untilMillis = new TreeMap<>();
    long expiresMillis;
  }

  /** A wake key or a watch key. */
  private static final class TurnKey {
    boolean stored;

    /** When the process was woken; in a watch key, its patience. */
    long micros;

    long expiresMillis;
    boolean read;
    long reader;
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
    Queue queue = queue(queueKey, nowMillis);
    if (queue == null) {
      return null;
    }
    return queue.arrivals.entrySet().stream()
        .sorted(Map.Entry.comparingByValue())
        .skip(index)
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse(null);
  }

  long arrival(String queueKey, String member) {
    Queue queue = queues.get(queueKey);
    return queue == null ? 0 : queue.arrivals.getOrDefault(member, 0L);
  }

  /** How many processes come before this one, or −1 if it is not queued. */
  int rank(String queueKey, String member, long nowMillis) {
    Queue queue = queue(queueKey, nowMillis);
    if (queue == null || !queue.arrivals.containsKey(member)) {
      return -1;
    }
    int ahead = 0;
    while (!member.equals(place(queueKey, ahead, nowMillis))) {
      ahead++;
    }
    return ahead;
  }

  int size(String queueKey, long nowMillis) {
    Queue queue = queue(queueKey, nowMillis);
    return queue == null ? 0 : queue.arrivals.size();
  }

  private @Nullable Queue queue(String queueKey, long nowMillis) {
    Queue queue = queues.get(queueKey);
    if (queue != null && (nowMillis > queue.expiresMillis || queue.arrivals.isEmpty())) {
      queues.remove(queueKey);
      return null;
    }
    return queue;
  }

  /**
   * Enters the queue, or changes the arrival if it is given; returns how many come before. An
   * arrival behind the node's clock is not stored: the clock was set back.
   */
  int enter(String queueKey, LockRequest.QueueEntry entry, long lifeMillis, long now) {
    live(queueKey, entry, lifeMillis, now);
    sweep(queueKey, now);
    Queue known = queue(queueKey, now / 1000);
    Queue queue = known == null ? new Queue() : known;
    queues.put(queueKey, queue);
    Long stored = queue.arrivals.get(entry.process());
    if (entry.arrivalMicros() > 0 && entry.arrivalMicros() <= now) {
      queue.arrivals.put(entry.process(), entry.arrivalMicros());
    } else if (stored == null || (entry.arrivalMicros() > now && stored > now)) {
      queue.arrivals.put(entry.process(), now);
    }
    queue.expiresMillis = now / 1000 + lifeMillis;
    return rank(queueKey, entry.process(), now / 1000);
  }

  private void live(String queueKey, LockRequest.QueueEntry entry, long lifeMillis, long now) {
    Signs known = signs(queueKey, now / 1000);
    Signs s = known == null ? new Signs() : known;
    signs.put(queueKey, s);
    if (s.untilMillis.put(entry.process(), now / 1000 + entry.lifeMillis()) == null) {
      s.expiresMillis = now / 1000 + lifeMillis;
    }
  }

  private @Nullable Signs signs(String queueKey, long nowMillis) {
    Signs s = signs.get(queueKey);
    if (s != null && (nowMillis > s.expiresMillis || s.untilMillis.isEmpty())) {
      signs.remove(queueKey);
      return null;
    }
    return s;
  }

  /** Removes the processes that have not asked for too long; returns how many. */
  int sweep(String queueKey, long now) {
    Signs s = signs(queueKey, now / 1000);
    if (s == null) {
      return 0;
    }
    List<String> gone = new ArrayList<>();
    s.untilMillis.forEach(
        (member, until) -> {
          if (until * 1000 < now) {
            gone.add(member);
          }
        });
    int removed = 0;
    for (String member : gone) {
      s.untilMillis.remove(member);
      removed += leave(queueKey, member) ? 1 : 0;
    }
    return removed;
  }

  /** Whether a release may wake the last of the queue; then no other does for a while. */
  boolean mayWakeLast(String queueKey, long nowMillis) {
    Signs s = signs(queueKey, nowMillis);
    if (s == null || LAST_WOKEN.equals(oldest(s))) {
      return false;
    }
    s.untilMillis.put(LAST_WOKEN, nowMillis + LAST_WOKEN_MILLIS);
    return true;
  }

  /** The member whose time ends first. */
  private static @Nullable String oldest(Signs s) {
    return s.untilMillis.entrySet().stream()
        .min(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey)
        .orElse(null);
  }

  /** Removes the process; false if it was not queued. */
  boolean leave(String queueKey, String member) {
    Queue queue = queues.get(queueKey);
    return queue != null && queue.arrivals.remove(member) != null;
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
    key.stored = true;
    key.micros = now;
    key.expiresMillis = now / 1000 + WAKE_LIFE_MILLIS;
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
    key.stored = true;
    key.micros = micros;
    key.expiresMillis = expiresMillis;
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
    queues.values().removeIf(q -> nowMillis > q.expiresMillis || q.arrivals.isEmpty());
    signs.values().removeIf(s -> nowMillis > s.expiresMillis || s.untilMillis.isEmpty());
    turnKeys.values().removeIf(k -> !k.read && (!k.stored || nowMillis > k.expiresMillis));
  }

  void copyTo(QueueModel copy) {
    queues.forEach(
        (key, queue) -> {
          Queue q = new Queue();
          q.arrivals.putAll(queue.arrivals);
          q.expiresMillis = queue.expiresMillis;
          copy.queues.put(key, q);
        });
    signs.forEach(
        (key, from) -> {
          Signs s = new Signs();
          s.untilMillis.putAll(from.untilMillis);
          s.expiresMillis = from.expiresMillis;
          copy.signs.put(key, s);
        });
    turnKeys.forEach(
        (name, key) -> {
          TurnKey k = new TurnKey();
          k.stored = key.stored;
          k.micros = key.micros;
          k.expiresMillis = key.expiresMillis;
          copy.turnKeys.put(name, k);
        });
  }

  /** When the signs of life in the queue end. */
  Collection<Long> signs(String queueKey) {
    Signs s = signs.get(queueKey);
    return s == null ? List.of() : s.untilMillis.values();
  }

  long expiresMillis(String queueKey) {
    Queue queue = queues.get(queueKey);
    return queue == null || queue.arrivals.isEmpty() ? 0 : queue.expiresMillis;
  }
}
