/**
 * The lock in Vert.x: two JVMs on one clustered event bus, and a fleet of which one member works.
 */
@NullMarked
package dev.redlock.examples.vertx;

import org.jspecify.annotations.NullMarked;
