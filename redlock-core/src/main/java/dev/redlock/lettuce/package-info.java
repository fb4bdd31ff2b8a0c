/** The standalone node on Lettuce: one ordered, probed connection to one Redis master. */
@NullMarked
package dev.redlock.lettuce;

import org.jspecify.annotations.NullMarked;
