package dev.redlock.spring.boot;

import dev.redlock.FencingToken;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.RedlockBuilder;
import dev.redlock.RedlockListener;
import dev.redlock.spring.RedlockBuilderCustomizer;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The leases that this client holds. The leases of events are separate objects. So the leak
 * detection still finds a lease that the holder has forgotten.
 */
final class HeldLeases implements RedlockListener, RedlockBuilderCustomizer {
  private record Key(List<String> names, FencingToken token) {}

  /**
   * One lease.
   *
   * @param names its names
   * @param token its fencing token
   * @param acquiredAt when it was granted, by the clock of this machine
   */
  record HeldLease(List<String> names, long token, Instant acquiredAt) {}

  private record Entry(HeldLease view, Lease lease) {
    boolean isOver() {
      return !lease.isValid();
    }
  }

  // Written by the client's events and by the endpoint, read by the endpoint.
  private final Map<Key, Entry> held = new ConcurrentHashMap<>();

  @Override
  public void customize(RedlockBuilder builder) {
    builder.listener(this);
  }

  @Override
  public void onAcquired(Lease lease, Duration waited) {
    HeldLease view = new HeldLease(lease.names(), lease.fencingToken().value(), Instant.now());
    held.put(key(lease), new Entry(view, lease));
  }

  @Override
  public void onEnded(Lease lease, LeaseEnd end, Duration held, Duration validityLeft) {
    this.held.remove(key(lease));
  }

  /** Ends may be among the events that were dropped. */
  @Override
  public void onDropped(long events) {
    held.values().removeIf(Entry::isOver);
  }

  private static Key key(Lease lease) {
    return new Key(lease.names(), lease.fencingToken());
  }

  List<HeldLease> list() {
    held.values().removeIf(Entry::isOver);
    return held.values().stream()
        .map(Entry::view)
        .sorted(Comparator.comparing(HeldLease::acquiredAt))
        .toList();
  }
}
