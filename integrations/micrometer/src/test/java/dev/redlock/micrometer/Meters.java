package dev.redlock.micrometer;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/** Reads meters; one that is not there counts zero. */
final class Meters {
  private Meters() {}

  static long timer(MeterRegistry registry, String name, String... tags) {
    return registry.find(name).tags(tags).timers().stream().mapToLong(Timer::count).sum();
  }

  static double counter(MeterRegistry registry, String name, String... tags) {
    return registry.find(name).tags(tags).counters().stream().mapToDouble(c -> c.count()).sum();
  }

  static double gauge(MeterRegistry registry, String name, String... tags) {
    return registry.find(name).tags(tags).gauges().stream().mapToDouble(g -> g.value()).sum();
  }

  static double requests(MeterRegistry registry, String... tags) {
    return registry.find("redlock.node.request").tags(tags).functionTimers().stream()
        .mapToDouble(FunctionTimer::count)
        .sum();
  }

  static long series(MeterRegistry registry) {
    return registry.getMeters().stream()
        .map(Meter::getId)
        .filter(id -> id.getName().startsWith("redlock."))
        .count();
  }
}
