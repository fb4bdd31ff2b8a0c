/** The executable specification of one node, for tests and simulation. */
@NullMarked
package dev.redlock.internal.memory;

import org.jspecify.annotations.NullMarked;
