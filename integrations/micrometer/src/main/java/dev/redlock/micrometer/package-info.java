/**
 * Meters of a client ({@link dev.redlock.micrometer.RedlockMetrics}) and observations of its locks
 * ({@link dev.redlock.micrometer.ObservedLock}). See {@code docs/observability.md}.
 */
@NullMarked
package dev.redlock.micrometer;

import org.jspecify.annotations.NullMarked;
