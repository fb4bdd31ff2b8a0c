/**
 * The coupon shop: three processes sell from one stock while the masters of their lock, and the
 * holder itself, are killed and paused. Started by {@code ./demo}.
 */
@NullMarked
package dev.redlock.examples.demo;

import org.jspecify.annotations.NullMarked;
