/** The coupon shop as a Spring Boot application. {@code bin/shop} starts it. */
@NullMarked
package dev.redlock.examples.shop;

import org.jspecify.annotations.NullMarked;
