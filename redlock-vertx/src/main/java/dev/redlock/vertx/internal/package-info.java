/** The implementation of {@code dev.redlock.vertx}. */
@NullMarked
package dev.redlock.vertx.internal;

import org.jspecify.annotations.NullMarked;
