package dev.redlock.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** How observations of locks are named, and which keys they have. */
public interface LockObservationConvention extends ObservationConvention<LockContext> {
  @Override
  default boolean supportsContext(Observation.Context context) {
    return context instanceof LockContext;
  }
}
