package dev.redlock.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Determines the names and the keys of observations of locks. */
public interface LockObservationConvention extends ObservationConvention<LockContext> {
  @Override
  default boolean supportsContext(Observation.Context context) {
    return context instanceof LockContext;
  }
}
