/** What {@code dev.redlock.vertx} is made of. */
@NullMarked
package dev.redlock.vertx.internal;

import org.jspecify.annotations.NullMarked;
