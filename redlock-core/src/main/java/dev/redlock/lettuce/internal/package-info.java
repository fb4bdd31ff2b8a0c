/** A probed connection to one Redis server, and the states it goes through. */
@NullMarked
package dev.redlock.lettuce.internal;

import org.jspecify.annotations.NullMarked;
