/** Small runnable programs. */
@NullMarked
package dev.redlock.examples;

import org.jspecify.annotations.NullMarked;
