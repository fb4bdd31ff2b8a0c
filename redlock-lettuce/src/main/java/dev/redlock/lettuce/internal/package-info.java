/** The connection to one Redis server: connect, probe, quarantine, send, close. */
@NullMarked
package dev.redlock.lettuce.internal;

import org.jspecify.annotations.NullMarked;
