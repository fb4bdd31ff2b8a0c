package dev.redlock.micrometer;

import static java.util.Objects.requireNonNull;

import dev.redlock.AcquireVerdict;
import dev.redlock.LeaseEnd;
import dev.redlock.RedlockListener.Caller;
import dev.redlock.RedlockListener.HandOff;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** The meters of all locks with one value of the tag {@code lock}. Registered at once. */
final class LockMeters {
  /** How a caller asks for the lock. */
  private enum Mode {
    TRY,
    WAIT,
    FAIR;

    static Mode of(Caller caller) {
      return !caller.waits() ? TRY : caller.fair() ? FAIR : WAIT;
    }
  }

  private final MeterRegistry registry;
  private final Tags tags;
  private final Map<Mode, Map<AcquireVerdict, Timer>> acquire = new EnumMap<>(Mode.class);
  private final Timer wait;
  private final Map<LeaseEnd, Timer> hold = new EnumMap<>(LeaseEnd.class);
  private final Timer validityLeft;
  private final Map<LeaseEnd, Counter> lost = new EnumMap<>(LeaseEnd.class);
  private final Map<HandOff, Counter> handOffs = new EnumMap<>(HandOff.class);
  private final Counter extended;
  private final Counter extendFailed;
  private final Counter usefulHints;
  private final Counter spuriousHints;

  LockMeters(MeterRegistry registry, Tags tags) {
    this.registry = registry;
    this.tags = tags;
    for (Mode mode : Mode.values()) {
      Map<AcquireVerdict, Timer> ofMode = new EnumMap<>(AcquireVerdict.class);
      for (AcquireVerdict verdict : AcquireVerdict.values()) {
        Tags own = Tags.of("outcome", value(verdict), "mode", value(mode));
        ofMode.put(verdict, timer("redlock.acquire", "From the call to its result", own));
      }
      acquire.put(mode, ofMode);
    }
    wait = timer("redlock.wait", "How long callers waited that got the lock", Tags.empty());
    for (LeaseEnd end : LeaseEnd.values()) {
      Tags own = Tags.of("end", value(end));
      hold.put(end, timer("redlock.hold", "From the grant to the end of the lease", own));
      if (!end.byHolder()) {
        Tags cause = Tags.of("cause", value(end));
        lost.put(end, counter("redlock.lost", "Leases that ended without their holder", cause));
      }
    }
    validityLeft =
        timer(
            "redlock.validity.left",
            "For how long a lease was still valid when its holder released it",
            Tags.empty());
    for (HandOff kind : HandOff.values()) {
      handOffs.put(
          kind, counter("redlock.handoff", "Hand-offs of locks", Tags.of("kind", value(kind))));
    }
    String extensions = "Extensions of leases";
    extended = counter("redlock.extend", extensions, Tags.of("result", "extended"));
    extendFailed = counter("redlock.extend", extensions, Tags.of("result", "failed"));
    String hints = "Attempts that a release hint caused";
    usefulHints = counter("redlock.hints", hints, Tags.of("result", "useful"));
    spuriousHints = counter("redlock.hints", hints, Tags.of("result", "spurious"));
  }

  private Timer timer(String name, String description, Tags own) {
    return Timer.builder(name).description(description).tags(tags).tags(own).register(registry);
  }

  private Counter counter(String name, String description, Tags own) {
    return Counter.builder(name).description(description).tags(tags).tags(own).register(registry);
  }

  private static String value(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** All constants are keys. */
  private static <K, V> V at(Map<K, V> meters, K key) {
    return requireNonNull(meters.get(key));
  }

  void left(Caller caller, AcquireVerdict verdict, Duration waited) {
    at(at(acquire, Mode.of(caller)), verdict).record(waited);
    if (verdict == AcquireVerdict.ACQUIRED) {
      wait.record(waited);
    }
  }

  void ended(LeaseEnd end, Duration held, Duration left) {
    at(hold, end).record(held);
    if (end.byHolder()) {
      validityLeft.record(left);
    } else {
      at(lost, end).increment();
    }
  }

  void extended(boolean success) {
    (success ? extended : extendFailed).increment();
  }

  void handOff(HandOff kind) {
    at(handOffs, kind).increment();
  }

  void hint(boolean useful) {
    (useful ? usefulHints : spuriousHints).increment();
  }
}
