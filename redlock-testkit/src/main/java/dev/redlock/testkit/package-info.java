/** Redis nodes that a test can start, kill, pause, cut off and restart. */
@NullMarked
package dev.redlock.testkit;

import org.jspecify.annotations.NullMarked;
