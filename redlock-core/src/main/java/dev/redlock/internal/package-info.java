/**
 * The shell around the protocol: threads, timers, futures. Carries out what the protocol orders.
 */
@NullMarked
package dev.redlock.internal;

import org.jspecify.annotations.NullMarked;
