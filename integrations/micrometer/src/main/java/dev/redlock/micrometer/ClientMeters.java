package dev.redlock.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The meters of one client in one registry. */
final class ClientMeters {
  private final MeterRegistry registry;
  private final Tags tags;
  private final LockTags lockTags;
  private final Counter dropped;

  /** By the value of the tag {@code lock}; one entry for all locks if there is no such tag. */
  private final ConcurrentMap<String, LockMeters> byLock = new ConcurrentHashMap<>();

  ClientMeters(MeterRegistry registry, Tags tags, LockTags lockTags, ClientState state) {
    this.registry = registry;
    this.tags = tags;
    this.lockTags = lockTags;
    Gauge.builder("redlock.waiters", state.waiters, Number::doubleValue)
        .description("Callers that wait for a lock, in this process")
        .tags(tags)
        .strongReference(true)
        .register(registry);
    Gauge.builder("redlock.leases.held", state.leases, Number::doubleValue)
        .description("Leases that this process holds")
        .tags(tags)
        .strongReference(true)
        .register(registry);
    dropped =
        Counter.builder("redlock.events.dropped")
            .description("Events that the meters missed; the counts of other meters are too low")
            .tags(tags)
            .register(registry);
    if (!lockTags.areUsed()) {
      of(List.of()); // All series exist from the start, so that rates begin at zero.
    }
  }

  boolean areIn(MeterRegistry other) {
    return registry == other;
  }

  LockMeters of(List<String> names) {
    String lock = lockTags.value(names);
    LockMeters known = byLock.get(lock);
    return known != null
        ? known
        : byLock.computeIfAbsent(
            lock, value -> new LockMeters(registry, tags.and(LockTags.tags(value))));
  }

  void dropped(long events) {
    dropped.increment((double) events);
  }
}
