package dev.redlock.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An observation whose handlers, conventions and predicates may throw. It logs their exceptions. If
 * an exception reached the caller instead of the granted lease, the caller could not release that
 * lease.
 */
final class GuardedObservation {
  private static final Logger log = LoggerFactory.getLogger(ObservedLock.class);
  private static final AtomicBoolean REPORTED = new AtomicBoolean();
  private static final LockObservationConvention DEFAULT = new DefaultLockObservationConvention();

  private final ObservationRegistry registry;
  private Observation observation = Observation.NOOP;

  /** What is observed; it may throw checked exceptions. */
  interface Call<T extends @Nullable Object, E extends Exception> {
    T run() throws E;
  }

  private GuardedObservation(ObservationRegistry registry) {
    this.registry = registry;
  }

  static GuardedObservation start(
      @Nullable LockObservationConvention convention,
      LockContext context,
      ObservationRegistry registry) {
    GuardedObservation guarded = new GuardedObservation(registry);
    guard(
        () -> {
          guarded.observation =
              Observation.createNotStarted(convention, DEFAULT, () -> context, registry);
          guarded.observation.start();
        });
    return guarded;
  }

  /** Calls in the scope of the observation, which ends with the call. */
  <T extends @Nullable Object, E extends Exception> T observe(Call<T, E> call) throws E {
    Observation.Scope before = registry.getCurrentObservationScope();
    Observation.Scope scope = openScope(before);
    try {
      return call.run();
    } catch (Throwable e) {
      error(e);
      throw e;
    } finally {
      if (!guard(scope::close)) {
        registry.setCurrentObservationScope(before);
      }
      stop();
    }
  }

  private Observation.Scope openScope(Observation.@Nullable Scope before) {
    try {
      return observation.openScope();
    } catch (Throwable e) {
      report(e);
      registry.setCurrentObservationScope(before); // It may be the current one already.
      return Observation.Scope.NOOP;
    }
  }

  void acquired() {
    guard(() -> observation.event(Observation.Event.of("redlock.acquired", "lock acquired")));
  }

  void error(Throwable failure) {
    guard(() -> observation.error(failure));
  }

  void stop() {
    guard(observation::stop);
  }

  /** Whether the action did not throw. */
  private static boolean guard(Runnable action) {
    try {
      action.run();
      return true;
    } catch (Throwable e) {
      report(e);
      return false;
    }
  }

  private static void report(Throwable failure) {
    if (REPORTED.compareAndSet(false, true)) {
      log.error(
          "an observation of a lock failed with an exception (logged once; see the debug level for"
              + " more)",
          failure);
    } else {
      log.debug("an observation of a lock failed with an exception again", failure);
    }
  }
}
