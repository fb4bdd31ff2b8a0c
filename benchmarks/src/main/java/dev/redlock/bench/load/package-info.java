/** The loads, and the measurements under load. */
@NullMarked
package dev.redlock.bench.load;

import org.jspecify.annotations.NullMarked;
