package dev.redlock.internal;

import dev.redlock.spi.LockKeys;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The queues of all names that are not idle; an idle name leaves no trace. */
final class Locks {
  private final Client client;
  private final Map<LockKeys, LockActor> actors = new ConcurrentHashMap<>();

  /** Lock key to the queues of all sets that hold it; for pushes and local hints. */
  private final Map<String, Set<LockActor>> byKey = new ConcurrentHashMap<>();

  Locks(Client client) {
    this.client = client;
  }

  /** Handles the event in the queue of these names, in a new one if theirs was just given up. */
  void post(LockKeys keys, LockActor.Event event) {
    LockActor actor = actors.get(keys);
    if (actor == null) {
      actor = actors.computeIfAbsent(keys, this::create);
    }
    LockActor chosen = actor;
    chosen.post(
        (machine, now, wall) -> {
          if (chosen.isRetired()) {
            post(keys, event);
          } else {
            event.handle(machine, now, wall);
          }
        });
  }

  private LockActor create(LockKeys keys) {
    LockActor actor = new LockActor(client, keys);
    for (int i = 0; i < keys.size(); i++) {
      byKey.compute(
          keys.lockKey(i),
          (key, known) -> {
            Set<LockActor> all = known == null ? ConcurrentHashMap.newKeySet(1) : known;
            all.add(actor);
            return all;
          });
    }
    return actor;
  }

  void remove(LockActor actor) {
    actors.remove(actor.keys(), actor);
    for (int i = 0; i < actor.keys().size(); i++) {
      byKey.computeIfPresent(
          actor.keys().lockKey(i),
          (key, known) -> {
            known.remove(actor);
            return known.isEmpty() ? null : known;
          });
    }
  }

  /** The queues that care for this lock key. */
  Collection<LockActor> of(String lockKey) {
    Set<LockActor> known = byKey.get(lockKey);
    return known == null ? List.of() : known;
  }

  /** The name that this lock key is of, if anybody here cares for it. */
  Optional<String> nameOf(String lockKey) {
    for (LockActor actor : of(lockKey)) {
      LockKeys keys = actor.keys();
      for (int i = 0; i < keys.size(); i++) {
        if (keys.lockKey(i).equals(lockKey)) {
          return Optional.of(keys.names().get(i));
        }
      }
    }
    return Optional.empty();
  }

  List<LockActor> all() {
    return new ArrayList<>(actors.values());
  }

  int size() {
    return actors.size();
  }
}
