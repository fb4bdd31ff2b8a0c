/** Compares this library with others. */
@NullMarked
package dev.redlock.bench;

import org.jspecify.annotations.NullMarked;
