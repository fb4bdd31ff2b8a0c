/** The ports that adapters implement: a node, release hints, and time. */
@NullMarked
package dev.redlock.spi;

import org.jspecify.annotations.NullMarked;
