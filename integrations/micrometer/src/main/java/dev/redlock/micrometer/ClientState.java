package dev.redlock.micrometer;

import java.util.concurrent.atomic.AtomicInteger;

/** What gauges read: the same for all registries. The listener writes it. */
final class ClientState {
  final AtomicInteger waiters = new AtomicInteger();
  final AtomicInteger leases = new AtomicInteger();
}
