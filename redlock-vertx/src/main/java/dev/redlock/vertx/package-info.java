/**
 * The lock in Vert.x manners: {@link dev.redlock.vertx.VertxRedlock} grants a {@link
 * dev.redlock.vertx.VertxLease} as a future on the caller's context. See {@code docs/vertx.md}.
 */
@NullMarked
package dev.redlock.vertx;

import org.jspecify.annotations.NullMarked;
