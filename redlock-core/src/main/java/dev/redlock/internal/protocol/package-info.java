/**
 * The protocol as pure code: events and time come in, effects go out. There is no clock, thread,
 * future, randomness, log or I/O in it. The same classes run in production and in the simulator.
 * {@link dev.redlock.internal.protocol.LockMachine} is the entry; its parts are listed there.
 * {@link dev.redlock.internal.protocol.Broadcast} serves operators, and is no part of it.
 */
@NullMarked
package dev.redlock.internal.protocol;

import org.jspecify.annotations.NullMarked;
