/**
 * The lock for Vert.x: {@link dev.redlock.vertx.VertxRedlock} grants a {@link
 * dev.redlock.vertx.VertxLease} as a future on the caller's context. See {@code docs/vertx.md}.
 */
@NullMarked
@ModuleGen(name = "redlock", groupPackage = "dev.redlock")
package dev.redlock.vertx;

import io.vertx.codegen.annotations.ModuleGen;
import org.jspecify.annotations.NullMarked;
