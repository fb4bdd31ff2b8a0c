/**
 * The coupon shop: three processes sell from one stock while the program kills and pauses the
 * masters of their lock, and the holder itself. {@code ./demo} starts it.
 */
@NullMarked
package dev.redlock.examples.demo;

import org.jspecify.annotations.NullMarked;
