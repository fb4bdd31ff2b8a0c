/**
 * The lock in Vert.x: two JVMs on one clustered event bus, and a fleet in which one member works at
 * a time.
 */
@NullMarked
package dev.redlock.examples.vertx;

import org.jspecify.annotations.NullMarked;
