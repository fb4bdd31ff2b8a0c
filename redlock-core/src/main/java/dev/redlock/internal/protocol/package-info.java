/**
 * The protocol, pure: votes and time come in, orders come out. No clock, thread, future,
 * randomness, logging or I/O; the same classes run in production and in the simulator.
 */
@NullMarked
package dev.redlock.internal.protocol;

import org.jspecify.annotations.NullMarked;
