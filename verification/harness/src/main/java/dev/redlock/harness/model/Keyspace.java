package dev.redlock.harness.model;

import dev.redlock.harness.model.NodeModel.Invalidations;
import dev.redlock.spi.LockKeys;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The keys of one node, and the sessions that have read them: what the scripts read and write. */
final class Keyspace {
  /** An administrator, or the server itself, changes a key. */
  static final long NO_WRITER = -1;

  final long fenceLifeMillis;
  final QueueModel queues = new QueueModel(this::invalidate);
  private final UnaryOperator<String> marks;
  private final Map<String, Slot> slots = new LinkedHashMap<>();
  private Invalidations invalidations = Invalidations.NONE;

  Keyspace(long fenceLifeMillis, UnaryOperator<String> marks) {
    this.fenceLifeMillis = fenceLifeMillis;
    this.marks = marks;
  }

  void sendInvalidationsTo(Invalidations receiver) {
    invalidations = receiver;
  }

  private void invalidate(long session, String key) {
    invalidations.invalidate(session, key);
  }

  Collection<Slot> slots() {
    return slots.values();
  }

  /** The keys of this name; null if there were none yet. */
  @Nullable Slot find(String lockKey) {
    return slots.get(lockKey);
  }

  Slot slot(String lockKey) {
    Slot s = slots.get(lockKey);
    if (s == null) {
      s = new Slot(lockKey);
      slots.put(lockKey, s);
    }
    return s;
  }

  void write(Slot s, String owner, long expiresMillis, long session) {
    if (!owner.equals(s.owner)) {
      s.owner = owner;
      s.mark = null;
    }
    s.expiresMillis = expiresMillis;
    s.changed(session, invalidations);
  }

  void delete(Slot s, long session) {
    s.owner = null;
    s.mark = null;
    s.changed(session, invalidations);
  }

  String mark(@Nullable Slot s) {
    if (s == null) {
      return marks.apply("");
    }
    String known = s.mark;
    if (known == null) {
      known = marks.apply(String.valueOf(s.owner));
      s.mark = known;
    }
    return known;
  }

  void expire(LockKeys keys, long nowMillis) {
    for (int i = 0; i < keys.size(); i++) {
      Slot s = slots.get(keys.lockKey(i));
      if (s != null) {
        expire(s, nowMillis);
      }
    }
  }

  private void expire(Slot s, long nowMillis) {
    if (s.owner != null && nowMillis > s.expiresMillis) {
      delete(s, NO_WRITER);
    }
    if (s.fence > 0 && nowMillis > s.fenceExpiresMillis) {
      s.deleteFence();
    }
  }

  void expireAll(long nowMillis) {
    for (Slot s : slots.values()) {
      expire(s, nowMillis);
    }
    slots.values().removeIf(s -> s.owner == null && s.fence == 0 && !s.isTracked());
    queues.expireAll(nowMillis);
  }

  void wipe() {
    slots.clear();
    queues.wipe();
  }

  /** The same data, without readers. */
  Keyspace copy() {
    Keyspace copy = new Keyspace(fenceLifeMillis, marks);
    slots.forEach((lockKey, s) -> copy.slots.put(lockKey, s.copy()));
    queues.copyTo(copy.queues);
    return copy;
  }
}
