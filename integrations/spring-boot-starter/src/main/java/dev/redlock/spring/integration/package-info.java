/** Locks for Spring Integration. */
@NullMarked
package dev.redlock.spring.integration;

import org.jspecify.annotations.NullMarked;
