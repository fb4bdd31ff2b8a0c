/** The ports of the library: one node, release hints, and time. Adapters implement them. */
@NullMarked
package dev.redlock.spi;

import org.jspecify.annotations.NullMarked;
