/** Nodes on Lettuce: one ordered, probed connection to one Redis master each. */
@NullMarked
package dev.redlock.lettuce;

import org.jspecify.annotations.NullMarked;
